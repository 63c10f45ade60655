// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. If a standard stream stayed closed, the program could
/// open a file with the number of this stream. The file would look like a standard stream of the job. The job's command starts
/// with the descriptors closed, as the caller had left them.
void occupyStandardStreams();

} // namespace pinfold
