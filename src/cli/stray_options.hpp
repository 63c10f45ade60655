// SPDX-License-Identifier: LGPL-2.1-or-later
// The options of `pinfold strays`.
#pragma once

#include "base/result.hpp"
#include "config/strays_config.hpp"
#include "options/option.hpp"
#include "strays/policy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

struct StraysOptions {
    std::optional<StraysMode> mode = StraysMode::Report;      ///< unset: "configured", which is the site's mode
    std::vector<std::function<void(StraysConfig&)>> settings; ///< values of other options, which replace the site's [strays]
    std::vector<std::string> commands;                        ///< patterns, which replace the site's; empty: the site's
    bool files = false;                                       ///< look for files, not for processes
    bool remove = false;                                      ///< remove files
    bool dryRun = false;

    /// The site's settings with those of the options in their place.
    StraysConfig applied(StraysConfig config) const;
};

OptionSet straysOptions(StraysOptions& options);

/// Which processes are strays, and whose files are leftovers. Errors: InvalidArgument; those of the configuration.
Result<StrayPolicy> policyFor(const StraysOptions& options);

std::string_view toString(StraysMode mode);

} // namespace pinfold
