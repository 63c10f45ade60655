// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <fmt/core.h>

namespace pinfold {

Option jobArgument(std::string& job, Offer offer) {
    return {.name = "JOB", .help = "the job's key", .set = into(job), .offer = offer, .required = true};
}

Option jobsArgument(std::vector<std::string>& jobs, Offer offer) {
    return {
        .name = "JOB", .help = "the jobs' keys", .set = into(jobs), .values = Values::Several, .offer = offer, .required = true};
}

std::function<Result<Microseconds>(const std::string&)> durationFrom(Microseconds least, Microseconds most, const char* what,
                                                                     const char* range) {
    return [=](const std::string& text) -> Result<Microseconds> {
        auto value = parseDuration(text);
        if (value && *value >= least && *value <= most)
            return value;
        return Error{ErrorCode::InvalidArgument, fmt::format("{} '{}' is not valid: use {}", what, printable(text, 100), range)};
    };
}

Option dryRunOption(bool& dryRun) {
    return {.name = "--dry-run", .help = "show what the command would do, but do not do it", .set = into(dryRun)};
}

Option ownerOption(std::optional<std::string>& owner) {
    return {.name = "--owner",
            .value = "USER",
            .help = "refuse processes that do not belong to this user (name or id)",
            .set = into(owner),
            .offer = Offer::Users};
}

Option rootOption(std::string& root) {
    return {.name = "--root",
            .value = "DIRECTORY",
            .help = "read all files of the configuration below this directory, not below /",
            .set = into(root),
            .offer = Offer::Directories};
}

Option userOption(std::optional<std::string>& user) {
    return {.name = "--user",
            .letter = 'u',
            .value = "USER",
            .help = "show only jobs of this user (name or id)",
            .set = into(user),
            .offer = Offer::Users};
}

} // namespace pinfold
