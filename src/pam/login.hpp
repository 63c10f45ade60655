// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains account() and openSession(), which do the work of the PAM module. The functions of login.hpp do not call PAM.
#pragma once

#include "base/clock.hpp"
#include "base/paths.hpp"
#include "model/wrapper_protocol.hpp"
#include "pam/options.hpp"

#include <sys/types.h>
#include <syslog.h>

#include <cstdint>
#include <map>
#include <string>

namespace pinfold::pam {

/// kPhaseTime is the time limit of a PAM phase. A healthy pinfoldd answers within the time kPhaseTime. A user who logs in should
/// not wait for pinfold longer than kPhaseTime.
constexpr Microseconds kPhaseTime = 2s;
constexpr int kPamSuccess = 0;
constexpr int kPamSessionErr = 14;

struct Login {
    std::string user;
    uid_t uid = 0;
    bool admitted = false;       ///< the user is a member of one of admit_groups
    std::string connection = {}; ///< the value of the variable SSH_CONNECTION; can be empty
    std::string node;            ///< the name of this host, for messages to the user
};

struct Outcome {
    int pamCode = kPamSuccess;
    std::string toUser = {}; ///< the text that the user sees, in one paragraph; can be empty
    std::string toLog = {};  ///< a message for the log; can be empty
    int priority = LOG_INFO; ///< the priority of toLog
    std::map<std::string, std::string> environment = {};
};

/// Decides whether the user is allowed to log in to this node.
Outcome account(const Login& login, const PamOptions& options, const std::string& socket = kWrapperSocket);

/// Puts the calling process into the user's job. After openSession(), every process that the calling process starts is in the
/// job. A login of root stays outside of jobs. A user's login stays outside of jobs if the user is allowed to log in without a
/// job.
Outcome openSession(const Login& login, const PamOptions& options, const std::string& socket = kWrapperSocket);

} // namespace pinfold::pam
