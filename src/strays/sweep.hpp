// SPDX-License-Identifier: LGPL-2.1-or-later
// Warns, stops or kills strays.
#pragma once

#include "strays/stray_scanner.hpp"

#include <functional>
#include <string>
#include <vector>

namespace pinfold {

/// Says what `pinfold strays` did about a stray, or would do.
struct StrayAction {
    enum class Kind { Report, Warning, Terminate, Kill, Spare, Failure };
    Kind kind = Kind::Report;
    std::string why; ///< the reason, for the kinds Spare and Failure
};

using Tell = std::function<void(const Stray&, const StrayAction&)>;

/// Returns what a sweep in this mode does first.
StrayAction plannedAction(const Stray& stray, StraysMode mode);

/// Acts on the strays. The findings must be sure, and the strays must have pidfds. sweep() calls `tell` for each action, so twice
/// for a stray that outlasts SIGTERM. sweep() returns when all strays are gone, or are reported as failures. Error: Internal if
/// sweep() could not learn again which jobs are live; it does nothing more then.
Result<void> sweep(const StrayScanner& scanner, std::vector<Stray> strays, StraysMode mode, const Tell& tell);

} // namespace pinfold
