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
    /// If the user passed the word "configured", the mode is unset, and the mode in the site's configuration applies.
    std::optional<StraysMode> mode = StraysMode::Report;
    /// Each function sets one member of a StraysConfig to a value from the command line.
    std::vector<std::function<void(StraysConfig&)>> settings;
    std::vector<std::string> commands; ///< if `commands` is not empty, these patterns replace the patterns of the site
    bool files = false;                ///< look for leftover files, and not for stray processes
    bool remove = false;               ///< remove leftover files
    bool dryRun = false;
    bool metrics = false;

    /// Returns the site's settings. If the command line has a value for a setting, the result has this value in place of the
    /// site's value.
    StraysConfig applied(StraysConfig config) const;
};

OptionSet straysOptions(StraysOptions& options);

/// Returns the policy. The policy decides which processes are strays, and which users' files can be leftover files. policyFor()
/// can return InvalidArgument, and every error that loadConfig() can return.
Result<StrayPolicy> policyFor(const StraysOptions& options);

std::string_view toString(StraysMode mode);

} // namespace pinfold
