// SPDX-License-Identifier: LGPL-2.1-or-later
// What the module does in its two phases, without PAM.
#pragma once

#include "base/paths.hpp"
#include "model/wrapper_protocol.hpp"
#include "pam/options.hpp"

#include <sys/types.h>
#include <syslog.h>

#include <cstdint>
#include <map>
#include <string>

namespace pinfold {

/// Microseconds that a phase may take. This is longer than any healthy pinfoldd needs, and so short that a user who waits at a
/// prompt does not notice.
constexpr std::uint64_t kPhaseTime = 2'000'000;
constexpr int kPamSuccess = 0;
constexpr int kPamSessionErr = 14;

struct Login {
    std::string user;
    uid_t uid = 0;
    bool admitted = false;       ///< a member of one of admit_groups
    std::string connection = {}; ///< SSH_CONNECTION, or empty
    std::string node;            ///< this host's name for the user
};

struct Outcome {
    int pamCode = kPamSuccess;
    std::string toUser = {}; ///< one paragraph; empty: nothing
    std::string toLog = {};  ///< empty: nothing
    int priority = LOG_INFO; ///< the priority of toLog
    std::map<std::string, std::string> environment = {};
};

/// Whether the user may log in here.
Outcome account(const Login& login, const PamOptions& options, const std::string& socket = kWrapperSocket);

/// Puts this process into the user's job, and with it all that it starts later. A user without a job who may log in all the same
/// is not put into one, and root never is.
Outcome openSession(const Login& login, const PamOptions& options, const std::string& socket = kWrapperSocket);

} // namespace pinfold
