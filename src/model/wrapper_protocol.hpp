// SPDX-License-Identifier: LGPL-2.1-or-later
// The protocol of pinfold-run or pam_pinfold with pinfoldd, on a SOCK_SEQPACKET socket (unix(7)). Each request has a connection
// of its own, with one packet each way. The bus is not used because its broker would take a third of what a job costs, and
// because a job must start while the bus is away.
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

constexpr std::size_t kMaxWrapperPacket = 64 << 10; ///< bytes

/// What the leader of the request becomes.
enum class WrapperRole {
    Job,        ///< task 0 of a new job
    Batch,      ///< task 0 of a job that OpenJob opened
    Task,       ///< a further task of a live job
    TaskOfOpen, ///< a further task; if no such job is live, it is opened first, with the request's limits (admin only)
};

/// The request that is CreateJob, AddTask and OpenJob of org.pinfold1. The packet carries the leader's pidfd, then the
/// supervisor's pidfd and the job's standard error, if the request has them. Batch and Task have neither limits nor an
/// allocation, because the job has them already.
struct WrapperCreate {
    std::string key; ///< empty: pinfoldd picks one
    ResourceLimits limits;
    bool supervised = false;
    bool output = false; ///< the packet carries the job's standard error
    AllocationRequest allocation = {};
    WrapperRole role = WrapperRole::Job;
    std::optional<std::uint32_t> owner = {}; ///< user id of the job's owner, if it is not the leader's; admin only
    /// The job's number of slots in the batch system; the site's jobs.slots says what follows.
    std::optional<std::uint64_t> slots = {};
    bool shepherd = false; ///< the leader is the batch system's own process above the job; admin only

    bool operator==(const WrapperCreate&) const = default;
};

/// The request that is EndJob of org.pinfold1 or, for a task from 1 on, WaitTask.
struct WrapperEnd {
    std::string key;
    pid_t leader = 0; ///< the leader that ended, since a later job may have the same key; 0: any job with the key
    ExitState exit;   ///< may be unknown if `leader` is not
    std::optional<std::uint32_t> task = {}; ///< from 1: the request waits only for this task
    bool receipt = false;                   ///< the answer is to have the receipt
    bool toldOfRefusal = false;             ///< the wrapper does not take Unreachable for the job's end, as earlier wrappers did

    bool operator==(const WrapperEnd&) const = default;
};

/// The request that is SuspendJob or ResumeJob of org.pinfold1.
struct WrapperSuspend {
    std::string key;
    bool resume = false;

    bool operator==(const WrapperSuspend&) const = default;
};

/// The request that is ListJobs of org.pinfold1, for one user's jobs.
struct WrapperList {
    std::uint32_t uid = 0;

    bool operator==(const WrapperList&) const = default;
};

/// The request that is Adopt of org.pinfold1, for the one process whose pidfd the packet carries.
struct WrapperAdopt {
    std::string key;
    std::uint32_t owner = 0; ///< user id of the job's owner, since the key may be another user's job by now

    bool operator==(const WrapperAdopt&) const = default;
};

using WrapperRequest = std::variant<WrapperCreate, WrapperEnd, WrapperSuspend, WrapperList, WrapperAdopt>;

std::string encode(const WrapperRequest& request);
/// Accepts only what encode() writes: nothing unknown, repeated, wrapped around or cut short. Error: InvalidArgument.
Result<WrapperRequest> decodeWrapperRequest(std::string_view packet);

/// A job in the answer to WrapperList.
struct WrapperJob {
    std::string key;
    std::optional<ShownState> state; ///< unset: a state of a newer pinfoldd

    bool operator==(const WrapperJob&) const = default;
};

/// The answer to all of these requests.
struct WrapperReply {
    std::string key;                                  ///< empty in the answer to WrapperList
    std::map<std::string, std::string> environment;   ///< of a new job: variables that it gets in addition
    std::string notice;                               ///< of an ended job: text for its standard error, or empty
    std::string summary;                              ///< of an ended job: text for its standard output, or empty
    std::optional<std::uint32_t> task = {};           ///< of a further task: its number
    std::optional<Receipt> receipt = {};              ///< of an ended job, if it was asked for; without the leftovers' commands
    std::optional<std::vector<WrapperJob>> jobs = {}; ///< of one user: jobs that run come first, the newest of them first

    bool operator==(const WrapperReply&) const = default;
};

/// At most kMaxWrapperPacket bytes. A larger reply becomes an error that says so.
std::string encodeWrapperReply(const Result<WrapperReply>& reply);
/// Error: the one in the packet, or Internal for a packet that cannot be read.
Result<WrapperReply> decodeWrapperReply(std::string_view packet);

} // namespace pinfold
