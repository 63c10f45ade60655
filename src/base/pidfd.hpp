// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace pinfold {

/// Opens a pidfd of the process. If pidfd_open(2) fails, for example because the process has ended, the result is empty and
/// errno has the reason.
inline UniqueFd pidfdOf(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

} // namespace pinfold
