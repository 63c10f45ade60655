// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <string>
#include <vector>

namespace pinfold {

/// The options behind the module's name in a file of /etc/pam.d.
struct PamOptions {
    std::vector<std::string> admitGroups; ///< names of groups whose members may log in without a job
    bool admitOnFailure = false;          ///< let users in when pinfoldd cannot tell
    /// Refuse a login when nothing tells for which of a user's jobs it is; otherwise it is for the newest.
    bool denySeveral = false;
    std::string wrong; ///< what is not understood; empty: everything is. The other options count all the same
};

PamOptions parsePamOptions(std::span<const char* const> arguments);

} // namespace pinfold
