// SPDX-License-Identifier: LGPL-2.1-or-later
// Between pinfold-run or pam_pinfold and pinfoldd, on a SOCK_SEQPACKET socket (unix(7)): a connection a request, one packet each
// way. A third of what a job costs on the bus would be its broker's work; and a job must start while the bus is away.
#pragma once

#include "base/result.hpp"
#include "model/allocation.hpp"
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
constexpr std::size_t kMaxWrapperPacket = 64 << 10; ///< bytes

/// What the leader is to be.
enum class WrapperRole {
    Job,        ///< task 0 of a new job
    Batch,      ///< task 0 of a job that OpenJob opened
    Task,       ///< a further task of a live job
    TaskOfOpen, ///< likewise; where there is no such job it is opened first, with the request's limits (admin only)
};

/// As CreateJob, AddTask and OpenJob of org.pinfold1. With it go the leader's pidfd, then the supervisor's and the job's standard
/// error, if they are there. Batch and Task have neither limits nor allocation: the job has them.
struct WrapperCreate {
    std::string key; ///< empty: pinfoldd picks one
    ResourceLimits limits;
    bool supervised = false;
    bool output = false; ///< standard error goes along
    AllocationRequest allocation = {};
    WrapperRole role = WrapperRole::Job;
    std::optional<std::uint32_t> owner = {}; ///< user id of the job's owner, where it isn't the leader's; admin only
    std::optional<std::uint64_t> slots = {}; ///< what the batch system counts the job as; the site's jobs.slots says what follows
    bool shepherd = false;                   ///< the leader is the batch system's own process above the job; admin only

    bool operator==(const WrapperCreate&) const = default;
};

/// As EndJob of org.pinfold1, or for a task from 1 on as WaitTask.
struct WrapperEnd {
    std::string key;
    pid_t leader = 0;                       ///< whose end it is: by then a later job may have the same key; 0: whichever has it
    ExitState exit;                         ///< may be unknown where the leader is
    std::optional<std::uint32_t> task = {}; ///< from 1: only that task is waited for
    bool receipt = false;                   ///< the answer shall have it
    bool toldOfRefusal = false;             ///< Unreachable is not taken for the job's end, as it was by earlier wrappers

    bool operator==(const WrapperEnd&) const = default;
};

/// As SuspendJob and ResumeJob of org.pinfold1.
struct WrapperSuspend {
    std::string key;
    bool resume = false;

    bool operator==(const WrapperSuspend&) const = default;
};

/// As ListJobs of org.pinfold1, of one user's jobs.
struct WrapperList {
    std::uint32_t uid = 0;

    bool operator==(const WrapperList&) const = default;
};

/// As Adopt of org.pinfold1, of the one process whose pidfd goes along.
struct WrapperAdopt {
    std::string key;
    std::uint32_t owner = 0; ///< user id: by now the key may be another user's job

    bool operator==(const WrapperAdopt&) const = default;
};

using WrapperRequest = std::variant<WrapperCreate, WrapperEnd, WrapperSuspend, WrapperList, WrapperAdopt>;

std::string encode(const WrapperRequest& request);
/// Error: InvalidArgument. Takes only what encode() writes: nothing unknown, repeated, wrapped around or cut short.
Result<WrapperRequest> decodeWrapperRequest(std::string_view packet);

/// A job in the answer to WrapperList.
struct WrapperJob {
    std::string key;
    std::string state; ///< as stateWord()

    bool operator==(const WrapperJob&) const = default;
};

/// The answer to all of them.
struct WrapperReply {
    std::string key;                                  ///< empty in the answer to WrapperList
    std::map<std::string, std::string> environment;   ///< of a new job: what it shall have in addition
    std::string notice;                               ///< of an ended job: for its standard error; empty: nothing
    std::string summary;                              ///< of an ended job: for its standard output; empty: nothing
    std::optional<std::uint32_t> task = {};           ///< of a further task: its number
    std::optional<Receipt> receipt = {};              ///< of an ended job, if it was asked for; without the leftovers' commands
    std::optional<std::vector<WrapperJob>> jobs = {}; ///< of a user: those that run first, the newest of them first

    bool operator==(const WrapperReply&) const = default;
};

/// At most kMaxWrapperPacket bytes: a reply that is larger becomes an error that says so.
std::string encodeWrapperReply(const Result<WrapperReply>& reply);
/// What can't be read is an error of its own: Internal.
Result<WrapperReply> decodeWrapperReply(std::string_view packet);

} // namespace pinfold
