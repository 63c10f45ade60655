// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace pinfold {

/// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. If a standard stream stayed closed, a file that the
/// program opens could get the stream's number and look like a standard stream of the job. The job's command starts with the
/// descriptors closed, as the caller had left them.
void occupyStandardStreams();

} // namespace pinfold
