// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains the protocol that pinfold-run and pam_pinfold use to call pinfoldd through a SOCK_SEQPACKET socket (unix(7)). Each
// request has its own connection, with one packet for the request and one packet for the answer. There are two reasons why
// pinfold-run does not use the bus. The first reason is speed: the work of the bus broker would be a third of all the work for
// a job. The second reason is that a job must start even while the bus does not run.
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

/// Says which task the leader in the request becomes.
enum class WrapperRole {
    Job,        ///< task 0 of a new job
    Batch,      ///< task 0 of a job that OpenJob opened
    Task,       ///< a further task of a live job
    TaskOfOpen, ///< a further task; if no such job is live, pinfoldd first opens it with the request's limits (admin only)
};

/// Is a request to create a job, to add a task, or to open a job, as CreateJob, AddTask and OpenJob on D-Bus. The packet
/// contains the leader's pidfd. After the leader's pidfd, the packet contains the supervisor's pidfd and the job's standard
/// error, if the request has them. With the roles Batch and Task, the job exists already, so the request has neither limits nor
/// an allocation.
struct WrapperCreate {
    std::string key; ///< empty if pinfoldd is to pick a key
    ResourceLimits limits;
    bool supervised = false;
    bool output = false; ///< the packet carries the job's standard error
    AllocationRequest allocation = {};
    WrapperRole role = WrapperRole::Job;
    std::optional<uid_t> owner = {}; ///< user id of an owner other than the leader's user; only admins may set it
    /// The job's number of slots in the batch system. The meaning of the number of slots depends on the setting jobs.slots.
    std::optional<std::uint64_t> slots = {};
    bool shepherd = false; ///< the leader is the batch system's own process above the job's processes; admin only

    bool operator==(const WrapperCreate&) const = default;
};

/// Is a request to end a job, as EndJob on D-Bus. If the member `task` is set, the request does not end the job, but waits for
/// the end of the task, as WaitTask on D-Bus.
struct WrapperEnd {
    std::string key;
    pid_t leader = 0; ///< the leader that ended, because a later job may have the same key; 0 means any job with the key
    ExitState exit;   ///< may be unknown if `leader` is 0
    std::optional<std::uint32_t> task = {}; ///< if set (1 or more), the request waits only for this task
    bool receipt = false;                   ///< the answer shall have the receipt
    bool toldOfRefusal = false;             ///< the wrapper does not take Unreachable for the job's end; earlier wrappers did

    bool operator==(const WrapperEnd&) const = default;
};

/// Is a request to suspend or resume a job, as SuspendJob and ResumeJob on D-Bus.
struct WrapperSuspend {
    std::string key;
    bool resume = false;

    bool operator==(const WrapperSuspend&) const = default;
};

/// Is a request to list the jobs of one user. ListJobs on D-Bus lists the jobs of all users.
struct WrapperList {
    uid_t uid = 0;

    bool operator==(const WrapperList&) const = default;
};

/// Is a request to adopt one process into a job, as Adopt on D-Bus. The packet contains the pidfd of the process.
struct WrapperAdopt {
    std::string key;
    uid_t owner = 0; ///< user id of the job's owner, because the key may belong to another user's job by now

    bool operator==(const WrapperAdopt&) const = default;
};

using WrapperRequest = std::variant<WrapperCreate, WrapperEnd, WrapperSuspend, WrapperList, WrapperAdopt>;

std::string encode(const WrapperRequest& request);
/// Decodes a request. decodeWrapperRequest() accepts only packets in the form that encode() writes. It refuses unknown members,
/// repeated members, and numbers that are out of range. Error: InvalidArgument.
Result<WrapperRequest> decodeWrapperRequest(std::string_view packet);

/// Describes one job in the answer to a WrapperList request.
struct WrapperJob {
    std::string key;
    std::optional<ShownState> state; ///< unset if it is a state of a newer pinfoldd

    bool operator==(const WrapperJob&) const = default;
};

/// Holds the answer to a request of any kind on the wrapper's socket.
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

/// Returns a packet of at most kMaxWrapperPacket bytes. If the reply is larger than the limit, the packet contains an error
/// that says so.
std::string encodeWrapperReply(const Result<WrapperReply>& reply);
/// Returns the reply in the packet, or the error in the packet. If the packet cannot be decoded, the error is Internal.
Result<WrapperReply> decodeWrapperReply(std::string_view packet);

} // namespace pinfold
