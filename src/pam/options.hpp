// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <string>
#include <vector>

namespace pinfold {

/// Holds the options behind the module's name in a file of /etc/pam.d.
struct PamOptions {
    std::vector<std::string> admitGroups; ///< names of groups whose members may log in without a job
    bool admitOnFailure = false;          ///< let users in if pinfoldd cannot tell whether they have a job
    /// If true, the module refuses a login if it cannot know which of the user's jobs the login is for. If false, such a login
    /// joins the newest job.
    bool denySeveral = false;
    std::string wrong; ///< what the module does not understand, or empty; the other options count all the same
};

PamOptions parsePamOptions(std::span<const char* const> arguments);

} // namespace pinfold
