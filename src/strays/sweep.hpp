// SPDX-License-Identifier: LGPL-2.1-or-later
// Acts on strays.
#pragma once

#include "strays/stray_scanner.hpp"

#include <functional>
#include <string>
#include <vector>

namespace pinfold {

/// What was done about a stray, or would be done.
struct StrayAction {
    enum class Kind { Report, Warning, Terminate, Kill, Spare, Failure };
    Kind kind = Kind::Report;
    std::string why; ///< the reason, for Spare and Failure
};

using Tell = std::function<void(const Stray&, const StrayAction&)>;

/// What a sweep in this mode does first.
StrayAction plannedAction(const Stray& stray, StraysMode mode);

/// Acts on the strays. The findings must be sure, and have pidfds. `tell` is called for each action; twice for a stray that
/// outlasts SIGTERM. Returns when all strays are gone, or have been reported as failures. Error: Internal when the knowledge was
/// lost in between; then nothing more was done.
Result<void> sweep(const StrayScanner& scanner, std::vector<Stray> strays, StraysMode mode, const Tell& tell);

} // namespace pinfold
