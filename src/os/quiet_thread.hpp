// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

namespace pinfold {

/// Runs `work` in a new thread that nobody waits for. The thread blocks all signals. Otherwise, the kernel could deliver a signal
/// to the thread that the event loop waits for, and the signal's default action would end the process (signal(7)).
/// Throws std::system_error if the kernel cannot start a thread.
void startQuietThread(std::function<void()> work);

} // namespace pinfold
