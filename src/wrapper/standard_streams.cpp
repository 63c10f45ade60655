// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace pinfold {

void occupyStandardStreams() {
    int fd = -1;
    do
        fd = ::open("/dev/null", O_RDWR | O_CLOEXEC); // because of O_CLOEXEC, exec(2) closes the descriptor
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        ::close(fd);
}

} // namespace pinfold
