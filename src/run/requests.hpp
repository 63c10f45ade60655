// SPDX-License-Identifier: LGPL-2.1-or-later
// The two calls that the wrapper makes, see dbus/org.pinfold1.Manager.xml.
#pragma once

#include "run/daemon_link.hpp"
#include "run/options.hpp"

#include <sys/types.h>

#include <string>

namespace pinfold {

/// `supervisor` -1: none. On success `key` becomes the job's key.
void beginCreateJob(DaemonLink& link, const RunOptions& options, int leaderPidfd, int supervisorPidfd, std::string& key);

/// `waitStatus` as of waitpid(2).
void beginEndJob(DaemonLink& link, const std::string& key, pid_t leader, int waitStatus);

} // namespace pinfold
