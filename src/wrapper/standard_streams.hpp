// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Opens /dev/null for those of the descriptors 0, 1 and 2 that are closed. Otherwise files of ours would get these numbers and
/// be taken for the job's standard streams. The command still finds them closed.
void occupyStandardStreams();

} // namespace pinfold
