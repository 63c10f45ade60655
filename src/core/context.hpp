// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"
#include "core/report/metrics_counter.hpp"
#include "model/subordinate_ids.hpp"
#include "os/background.hpp"
#include "os/cgroup.hpp"
#include "os/cgroup_watch.hpp"
#include "os/event_loop.hpp"
#include "os/journal.hpp"
#include "os/kernel_log.hpp"
#include "os/placeholders.hpp"
#include "os/process.hpp"
#include "os/process_killer.hpp"
#include "os/process_mover.hpp"
#include "store/async_history.hpp"
#include "store/record_store.hpp"
#include "systemd/systemd_manager.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace pinfold {

/// Holds the objects and functions that the daemon's logic gets from other parts of pinfoldd. Everything in a CoreContext
/// outlives the JobManager.
struct CoreContext {
    EventLoop& loop;
    Background& background;
    SystemdManager& systemd;
    const ProcessTable& processes;
    const CgroupTree& cgroups;
    std::shared_ptr<const ProcessMover> mover;
    std::shared_ptr<const ProcessKiller> killer;
    Placeholders& placeholders;
    CgroupWatch& cgroupWatch;
    const RecordStore& records;
    AsyncHistory& history;
    Journal& journal;
    KernelLog& kernelLog;
    MetricsCounter& metrics;
    const Config& config; ///< the present configuration; a reload replaces all of its values
    std::string bootId;
    std::filesystem::path root = "/"; ///< the directory that contains the directories sys, proc and run
    /// Returns the owner of a subordinate user id, or the id itself for any other id. Jobs and threads of all ids of one owner
    /// count towards the owner's limits (SubordinateUsers).
    std::function<uid_t(uid_t)> countsAs = [](uid_t uid) { return uid; };
    /// Returns the user's own id and the user's subordinate ids. The result is a copy, so every thread can use the result
    /// (SubordinateUsers).
    std::function<UserIds(uid_t)> idsOf = [](uid_t uid) { return UserIds{uid}; };
    /// Returns the owners of all subordinate ids that countsAs() knows (SubordinateUsers).
    std::function<std::shared_ptr<const SubordinateOwners>()> owners = [] { return nullptr; };
    /// Asks the user database for the name of a user. The user database sometimes needs a long time for its answer. Only the
    /// thread of Lane::Names calls nameOfUser.
    std::function<Result<std::string>(uid_t)> nameOfUser = [](uid_t) -> Result<std::string> {
        return Error{ErrorCode::InvalidArgument, "there is no user database"};
    };
    /// Asks the group database for the name of a group, as nameOfUser asks the user database.
    std::function<Result<std::string>(gid_t)> nameOfGroup = [](gid_t) -> Result<std::string> {
        return Error{ErrorCode::InvalidArgument, "there is no group database"};
    };
    std::function<std::string()> hostName = [] { return std::string(); }; ///< returns the present name of the node
    std::string version = {};                                             ///< the version of pinfoldd
};

} // namespace pinfold
