// SPDX-License-Identifier: LGPL-2.1-or-later
// What the module does in its two phases, without PAM.
#pragma once

#include "model/wrapper_protocol.hpp"
#include "pam/options.hpp"

#include <sys/types.h>
#include <syslog.h>

#include <cstdint>
#include <map>
#include <string>

namespace pinfold {

/// Microseconds that a phase may take: longer than any healthy pinfoldd needs, shorter than who waits at a prompt notices.
constexpr std::uint64_t kPhaseTime = 2'000'000;
constexpr int kPamSuccess = 0;
constexpr int kPamSessionErr = 14;

struct Login {
    std::string user;
    uid_t uid = 0;
    bool admitted = false;       ///< a member of one of admit_groups
    std::string connection = {}; ///< SSH_CONNECTION, or nothing
    std::string node;            ///< what the user calls this host
};

struct Outcome {
    int pamCode = kPamSuccess;
    std::string toUser = {}; ///< one paragraph; empty: nothing
    std::string toLog = {};  ///< empty: nothing
    int priority = LOG_INFO; ///< of toLog
    std::map<std::string, std::string> environment = {};
};

/// Whether the user may log in here.
Outcome account(const Login& login, const PamOptions& options, const std::string& socket = kWrapperSocket);

/// Puts this process into the user's job: what it starts follows. Nobody is put there who may log in without a job and has none,
/// and root never.
Outcome openSession(const Login& login, const PamOptions& options, const std::string& socket = kWrapperSocket);

} // namespace pinfold
