// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <string>
#include <vector>

namespace pinfold {

/// What stands behind the module's name in a file of /etc/pam.d.
struct PamOptions {
    std::vector<std::string> admitGroups; ///< names; their members come in without a job
    bool admitOnFailure = false;          ///< when pinfoldd can't say
    bool denySeveral = false;             ///< when nothing tells which of a user's jobs a login is for; else it is the newest
    std::string wrong;                    ///< what isn't understood; empty: all is. The rest counts all the same
};

PamOptions parsePamOptions(std::span<const char* const> arguments);

} // namespace pinfold
