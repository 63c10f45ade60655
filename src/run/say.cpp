// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/say.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace pinfold {

void say(const std::string& line) {
    const auto text = "pinfold-run: " + line + "\n";
    // In one write, so that it doesn't mix with the job's; nobody is left to hear of a failure.
    (void)!::write(STDERR_FILENO, text.data(), text.size());
}

int openStderr() {
    const int flags = ::fcntl(STDERR_FILENO, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? STDERR_FILENO : -1;
}

} // namespace pinfold
