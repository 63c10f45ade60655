// SPDX-License-Identifier: LGPL-2.1-or-later
// Warns the users of strays, or ends strays by SIGTERM or SIGKILL.
#pragma once

#include "strays/stray_scanner.hpp"

#include <functional>
#include <string>
#include <vector>

namespace pinfold {

/// Says what `pinfold strays` did about a stray, or what it would do about the stray.
struct StrayAction {
    enum class Kind { Report, Warning, Terminate, Kill, Spare, Failure };
    Kind kind = Kind::Report;
    std::string why; ///< why pinfold spares the stray (Spare), or why an action failed (Failure)
};

using Tell = std::function<void(const Stray&, const StrayAction&)>;

/// Returns the action that sweep() takes first for the stray in the given mode.
StrayAction plannedAction(const Stray& stray, StraysMode mode);

/// Acts on the strays. Call sweep() only if Findings::areSure() has returned true, and if the strays have pidfds. For each
/// action, sweep() calls `tell`. If SIGTERM does not end a stray, sweep() calls `tell` again for the next action. After SIGKILL,
/// sweep() waits for the end of the strays, and reports each surviving stray as a failure. Before SIGKILL, sweep() finds out
/// again which jobs are live. If sweep() cannot find out which jobs are live, it fails with the error Internal and takes no
/// further action.
Result<void> sweep(const StrayScanner& scanner, std::vector<Stray> strays, StraysMode mode, const Tell& tell);

} // namespace pinfold
