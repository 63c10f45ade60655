// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the options of the command `pinfold strays`.
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
    std::optional<StraysMode> mode = StraysMode::Report;      ///< unset for the word "configured", which means the site's mode
    std::vector<std::function<void(StraysConfig&)>> settings; ///< set the values of the other options, in place of those of the
                                                              ///< site's [strays]
    std::vector<std::string> commands; ///< patterns in place of the site's patterns; if empty, the site's patterns hold
    bool files = false;                ///< look for files, not for processes
    bool remove = false;               ///< remove files
    bool dryRun = false;

    /// Returns the site's settings, with the values from the command line in place of some of the site's values.
    StraysConfig applied(StraysConfig config) const;
};

OptionSet straysOptions(StraysOptions& options);

/// Returns the policy. The policy decides which processes are strays, and which users' files may be leftover files. Errors:
/// InvalidArgument; the errors of the configuration.
Result<StrayPolicy> policyFor(const StraysOptions& options);

std::string_view toString(StraysMode mode);

} // namespace pinfold
