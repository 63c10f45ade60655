// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"

namespace pinfold {

Option jobArgument(std::string& job, Offer offer) {
    return {.name = "JOB", .help = "the job's key", .set = into(job), .offer = offer, .required = true};
}

Option jobsArgument(std::vector<std::string>& jobs, Offer offer) {
    return {
        .name = "JOB", .help = "the jobs' keys", .set = into(jobs), .values = Values::Several, .offer = offer, .required = true};
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
