// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

namespace pinfold {

/// Runs `work` in a new thread that nobody waits for. The new thread blocks all signals, so that only the event loop receives
/// signals. The default action of a signal in the new thread could end the whole process (signal(7)). Throws std::system_error if
/// the kernel cannot start a thread.
void startQuietThread(std::function<void()> work);

} // namespace pinfold
