// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Opens /dev/null for those of the descriptors 0, 1 and 2 that are closed. Files of ours would get these numbers otherwise, and
/// be taken for the job's standard streams. The command finds them closed, as they were.
void occupyStandardStreams();

} // namespace pinfold
