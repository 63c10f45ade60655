// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. If a standard stream stayed closed, a file that this
/// program opens could take the place of the stream. The job does not inherit the descriptors of /dev/null, because exec(2)
/// closes the descriptors.
void occupyStandardStreams();

} // namespace pinfold
