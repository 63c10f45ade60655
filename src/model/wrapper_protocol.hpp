// SPDX-License-Identifier: LGPL-2.1-or-later
// Is the protocol between pinfold-run or pam_pinfold and pinfoldd, on a SOCK_SEQPACKET socket (unix(7)). Each request has its own
// connection, with one packet in each direction. pinfold-run does not use the bus, because the bus's broker would take a third of
// what a job costs, and because a job must start even while the bus is away.
#pragma once

#include "base/result.hpp"
#include "model/allocation.hpp"
#include "model/job_state.hpp"
#include "model/receipt.hpp"
#include "model/resource_limits.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pinfold {

constexpr const char* kWrapperSocket = "/run/pinfold/wrapper.sock";
constexpr std::size_t kMaxWrapperPacket = 64 << 10; ///< in bytes

/// Says what the leader of the request becomes.
enum class WrapperRole {
    Job,        ///< task 0 of a new job
    Batch,      ///< task 0 of a job that OpenJob opened
    Task,       ///< a further task of a live job
    TaskOfOpen, ///< a further task; if no such job is live, pinfoldd first opens it with the request's limits (admin only)
};

/// Requests what CreateJob, AddTask and OpenJob of org.pinfold1 do. The packet carries the leader's pidfd, then the supervisor's
/// pidfd and the job's standard error, if the request has them. Requests with the roles Batch and Task have neither limits nor an
/// allocation, because the job has them already.
struct WrapperCreate {
    std::string key; ///< empty if pinfoldd is to pick a key
    ResourceLimits limits;
    bool supervised = false;
    bool output = false; ///< the packet carries the job's standard error
    AllocationRequest allocation = {};
    WrapperRole role = WrapperRole::Job;
    std::optional<std::uint32_t> owner = {}; ///< user id of the job's owner, if the job does not belong to the leader's user;
                                             ///< admin only
    /// The job's number of slots in the batch system. The site's jobs.slots says what the slots mean.
    std::optional<std::uint64_t> slots = {};
    bool shepherd = false; ///< the leader is the batch system's own process above the job's processes; admin only

    bool operator==(const WrapperCreate&) const = default;
};

/// Requests what EndJob of org.pinfold1 does or, for a task from 1 on, what WaitTask does.
struct WrapperEnd {
    std::string key;
    pid_t leader = 0; ///< the leader that ended, because a later job may have the same key; 0 means any job with the key
    ExitState exit;   ///< may be unknown if `leader` is 0
    std::optional<std::uint32_t> task = {}; ///< if set (1 or more), the request waits only for this task
    bool receipt = false;                   ///< the answer shall have the receipt
    bool toldOfRefusal = false;             ///< the wrapper does not take Unreachable for the job's end; earlier wrappers did

    bool operator==(const WrapperEnd&) const = default;
};

/// Requests what SuspendJob or ResumeJob of org.pinfold1 does.
struct WrapperSuspend {
    std::string key;
    bool resume = false;

    bool operator==(const WrapperSuspend&) const = default;
};

/// Requests what ListJobs of org.pinfold1 does, for one user's jobs.
struct WrapperList {
    std::uint32_t uid = 0;

    bool operator==(const WrapperList&) const = default;
};

/// Requests what Adopt of org.pinfold1 does, for one process. The packet carries the pidfd of the process.
struct WrapperAdopt {
    std::string key;
    std::uint32_t owner = 0; ///< user id of the job's owner, because the key may belong to another user's job by now

    bool operator==(const WrapperAdopt&) const = default;
};

using WrapperRequest = std::variant<WrapperCreate, WrapperEnd, WrapperSuspend, WrapperList, WrapperAdopt>;

std::string encode(const WrapperRequest& request);
/// Decodes a request. Accepts only what encode() writes, and refuses members that are unknown or repeated, and numbers that do
/// not fit. Error: InvalidArgument.
Result<WrapperRequest> decodeWrapperRequest(std::string_view packet);

/// Is a job in the answer to WrapperList.
struct WrapperJob {
    std::string key;
    std::optional<ShownState> state; ///< unset if it is a state of a newer pinfoldd

    bool operator==(const WrapperJob&) const = default;
};

/// Is the answer to all requests of the wrapper's socket.
struct WrapperReply {
    std::string key;                                  ///< empty in the answer to WrapperList
    std::map<std::string, std::string> environment;   ///< for a new job: variables that its environment gets in addition
    std::string notice;                               ///< for an ended job: text for its standard error, may be empty
    std::string summary;                              ///< for an ended job: text for its standard output, may be empty
    std::optional<std::uint32_t> task = {};           ///< for a further task: the number of the task
    std::optional<Receipt> receipt = {};              ///< for an ended job, if the request asked for it: the receipt without the
                                                      ///< leftovers' commands
    std::optional<std::vector<WrapperJob>> jobs = {}; ///< for WrapperList: the jobs that run come first, the newest of them first

    bool operator==(const WrapperReply&) const = default;
};

/// Returns at most kMaxWrapperPacket bytes. A larger reply becomes an error that says so.
std::string encodeWrapperReply(const Result<WrapperReply>& reply);
/// Returns the reply, or the error that is in the packet. Returns Internal for a packet that cannot be read.
Result<WrapperReply> decodeWrapperReply(std::string_view packet);

} // namespace pinfold
