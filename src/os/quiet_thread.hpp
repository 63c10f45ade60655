// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

namespace pinfold {

/// Starts a detached thread that runs `work`. The new thread blocks all signals, so that only the event loop receives signals. If
/// the new thread received a signal, the signal's default action could end the whole process (signal(7)). Throws
/// std::system_error if the kernel cannot start a thread.
void startQuietThread(std::function<void()> work);

} // namespace pinfold
