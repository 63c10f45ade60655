// SPDX-License-Identifier: LGPL-2.1-or-later
// Acts on strays.
#pragma once

#include "strays/lookout.hpp"

#include <functional>
#include <string>
#include <vector>

namespace pinfold {

/// What was done about a stray, or would be.
struct Deed {
    enum class Kind { Report, Warning, Terminate, Kill, Spare, Failure };
    Kind kind = Kind::Report;
    std::string why; ///< of Spare and Failure
};

using Tell = std::function<void(const Stray&, const Deed&)>;

/// What a sweep in this mode begins with.
Deed plannedDeed(const Stray& stray, StraysMode mode);

/// Does it. Only for findings that are sure, with pidfds. `tell` hears of each deed, of a stray that outlasts SIGTERM twice.
/// Returns when all are gone, or those left have been told as failures. Error: Internal when the knowledge was lost in between,
/// and nothing more was done.
Result<void> sweep(const Lookout& lookout, std::vector<Stray> strays, StraysMode mode, const Tell& tell);

} // namespace pinfold
