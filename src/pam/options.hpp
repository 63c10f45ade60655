// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <string>
#include <vector>

namespace pinfold::pam {

/// Holds the options that follow the module's name in a file in /etc/pam.d.
struct PamOptions {
    std::vector<std::string> admitGroups; ///< the names of groups; members of the groups are allowed to log in without a job
    bool admitOnFailure = false;          ///< a user is allowed to log in if pinfoldd cannot tell whether the user has a job
    /// Decides about a login when the module cannot know to which of the user's jobs the login belongs. If denySeveral is true,
    /// the module refuses a login that could belong to several jobs. If denySeveral is false, a login that could belong to
    /// several jobs joins the user's newest job.
    bool denySeveral = false;
    /// The options that the module does not understand. A wrong option does not disable the options that the module understands.
    std::string wrong;
};

PamOptions parsePamOptions(std::span<const char* const> arguments);

} // namespace pinfold::pam
