// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace pinfold {

/// Opens a pidfd of the process. The result is empty if this fails, for example because the process has ended; errno says why.
inline UniqueFd pidfdOf(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

} // namespace pinfold
