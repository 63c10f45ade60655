// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Opens /dev/null for those of the descriptors 0, 1 and 2 that are closed. Otherwise a file of this program could get one of
/// these numbers and look like a standard stream of the job. In the command that the job runs, these descriptors are closed, as
/// the caller left them.
void occupyStandardStreams();

} // namespace pinfold
