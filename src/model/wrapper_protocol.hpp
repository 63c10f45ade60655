// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains the protocol that pinfold-run and pam_pinfold use to call pinfoldd through a SOCK_SEQPACKET socket (unix(7)). Each
// request has its own connection, with one packet for the request and one packet for the answer. pinfold-run does not use the
// bus. If pinfold-run used the bus, the bus broker would do a third of the work that a job causes on the node. Because
// pinfold-run uses the socket, a job can start even while the bus does not run.
#pragma once

#include "base/boxed.hpp"
#include "base/result.hpp"
#include "model/allocation.hpp"
#include "model/job_identity.hpp"
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

constexpr std::size_t kMaxWrapperPacket = 64 << 10; ///< the maximum size of a packet, in bytes

/// Says whether the leader becomes task 0 or a further task of the job, and whether the job exists already.
enum class WrapperRole {
    Job,   ///< the leader becomes task 0 of a new job
    Batch, ///< the leader becomes task 0 of a job that OpenJob opened
    Task,  ///< the leader becomes a further task of a live job
    /// The leader becomes a task of the job, but not task 0. If the job is not live, pinfoldd first opens the job with the
    /// request's limits (admin only).
    TaskOfOpen,
};

/// A WrapperCreate is a request to create a job, to add a task to a job, or to open a job. WrapperCreate corresponds to the D-Bus
/// methods CreateJob, AddTask and OpenJob. The packet of the request contains the leader's pidfd. If the request has a
/// supervisor, the second descriptor in the packet is the supervisor's pidfd. If the request has a descriptor of the job's
/// standard error, this descriptor is the last in the packet. With the roles Batch and Task, the job exists already, so the
/// request has neither limits nor an allocation.
struct WrapperCreate {
    std::string key; ///< the key of the job; empty if pinfoldd should choose a key
    ResourceLimits limits;
    bool supervised = false;
    bool output = false; ///< the packet carries the job's standard error
    AllocationRequest allocation = {};
    WrapperRole role = WrapperRole::Job;
    /// The user id of the job's owner, if the owner is not the leader's user. Only admins are allowed to set an owner.
    std::optional<uid_t> owner = {};
    /// The number of slots that the batch system gave the job. The meaning of the number of slots depends on the setting
    /// jobs.slots.
    std::optional<std::uint64_t> slots = {};
    /// If `shepherd` is true, the leader is a program of the batch system, and starts the job's processes. Only admins are
    /// allowed to set `shepherd`.
    bool shepherd = false;
    JobIdentity identity = {}; ///< the job's name, account, labels and similar data; ordinary users can set only the labels

    bool operator==(const WrapperCreate&) const = default;
};

/// A WrapperEnd is a request to end a job, like EndJob on D-Bus. If the member `task` is set, the request waits for the end of
/// the task, like WaitTask on D-Bus.
struct WrapperEnd {
    std::string key;
    /// The process id of the leader that ended. The key alone is not enough to identify the job, because a later job can have
    /// the same key. If `leader` is 0, the request applies to any job with the key.
    pid_t leader = 0;
    ExitState exit; ///< how the leader ended; can be unknown if `leader` is 0
    /// If `task` is set, the request waits only for the end of the task with this number (1 or more).
    std::optional<std::uint32_t> task = {};
    bool receipt = false; ///< true if the answer should contain the receipt
    /// If toldOfRefusal is true, the wrapper knows that the error Unreachable does not mean the end of the job. Earlier
    /// wrappers believed that the error Unreachable means the end of the job.
    bool toldOfRefusal = false;
    JobIdentity identity =
        {}; ///< facts that pinfoldd adds to the receipt if they are missing there; only admins can set `identity`

    bool operator==(const WrapperEnd&) const = default;
};

/// A WrapperSuspend is a request to suspend or resume a job, like SuspendJob and ResumeJob on D-Bus.
struct WrapperSuspend {
    std::string key;
    bool resume = false;

    bool operator==(const WrapperSuspend&) const = default;
};

/// A WrapperList is a request to list the jobs of one user. ListJobs on D-Bus lists the jobs of all users.
struct WrapperList {
    uid_t uid = 0;

    bool operator==(const WrapperList&) const = default;
};

/// A WrapperAdopt is a request to adopt one process into a job, like Adopt on D-Bus. The packet of the request contains the pidfd
/// of the process.
struct WrapperAdopt {
    std::string key;
    uid_t owner = 0; ///< the user id of the job's owner; a newer job of a different user can have the same key

    bool operator==(const WrapperAdopt&) const = default;
};

using WrapperRequest = std::variant<WrapperCreate, WrapperEnd, WrapperSuspend, WrapperList, WrapperAdopt>;

std::string encode(const WrapperRequest& request);
/// Decodes a request. decodeWrapperRequest() accepts only packets in the form that encode() writes. decodeWrapperRequest()
/// refuses unknown members, repeated members, and numbers that are out of range. Error: InvalidArgument.
Result<WrapperRequest> decodeWrapperRequest(std::string_view packet);
/// Returns true if `error` means that pinfoldd does not know a member of the request.
bool saysUnknownForm(const Error& error);

/// Describes one job in the answer to a WrapperList request.
struct WrapperJob {
    std::string key;
    /// The state of the job. The state is unset if a newer pinfoldd has sent a state that this program does not know.
    std::optional<ShownState> state;

    bool operator==(const WrapperJob&) const = default;
};

/// Holds the answer to a request of any kind on the wrapper's socket.
struct WrapperReply {
    std::string key;                                ///< the job's key; empty in the answer to WrapperList
    std::map<std::string, std::string> environment; ///< for a new job, the variables that pinfoldd adds to the job's environment
    std::string notice;                             ///< for an ended job, a text for the job's standard error; can be empty
    std::string summary;                            ///< for an ended job, a text for the job's standard output; can be empty
    std::optional<std::uint32_t> task = {};         ///< the number of the task, if the request started a further task of the job
    /// If the request asked for the receipt, the answer contains the receipt of the ended job. `receipt` lacks the command lines
    /// of leftovers and the list of tasks.
    Boxed<Receipt> receipt = {};
    /// In the answer to WrapperList, `jobs` contains the jobs of the user whose id is WrapperList::uid. In `jobs`, running jobs
    /// come first, and newer jobs come before older jobs.
    std::optional<std::vector<WrapperJob>> jobs = {};

    bool operator==(const WrapperReply&) const = default;
};

/// Returns a packet of at most kMaxWrapperPacket bytes. If the reply is too large for a packet, the packet contains an error
/// about the size instead of the reply.
std::string encodeWrapperReply(const Result<WrapperReply>& reply);
/// Returns the reply or the error that the packet contains. If the packet cannot be decoded, the error is Internal.
Result<WrapperReply> decodeWrapperReply(std::string_view packet);

} // namespace pinfold
