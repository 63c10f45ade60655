// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. If a standard stream stayed closed, a file that this
/// program opens could get the number of this stream. The program would then take the file for a standard stream of the job. When
/// the job's command starts, exec(2) closes /dev/null again.
void occupyStandardStreams();

} // namespace pinfold
