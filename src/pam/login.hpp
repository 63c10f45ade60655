// SPDX-License-Identifier: LGPL-2.1-or-later
// Does the work of the module's two phases, without PAM.
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

/// A phase may take this many microseconds. The time is longer than any healthy pinfoldd needs, and so short that a user who
/// waits at a prompt does not notice it.
constexpr std::uint64_t kPhaseTime = 2'000'000;
constexpr int kPamSuccess = 0;
constexpr int kPamSessionErr = 14;

struct Login {
    std::string user;
    uid_t uid = 0;
    bool admitted = false;       ///< the user is a member of one of admit_groups
    std::string connection = {}; ///< the value of SSH_CONNECTION, or empty
    std::string node;            ///< the name of this host, for messages to the user
};

struct Outcome {
    int pamCode = kPamSuccess;
    std::string toUser = {}; ///< one paragraph for the user; may be empty
    std::string toLog = {};  ///< a message for the log; may be empty
    int priority = LOG_INFO; ///< the priority of toLog
    std::map<std::string, std::string> environment = {};
};

/// Decides whether the user may log in here.
Outcome account(const Login& login, const PamOptions& options, const std::string& socket = kWrapperSocket);

/// Puts this process, and so all processes that it starts later, into the user's job. A user who has no job but may log in all
/// the same stays outside of jobs, and so does root.
Outcome openSession(const Login& login, const PamOptions& options, const std::string& socket = kWrapperSocket);

} // namespace pinfold
