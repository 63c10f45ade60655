// SPDX-License-Identifier: LGPL-2.1-or-later
// Between pinfold-run and pinfoldd, on a SOCK_SEQPACKET socket (unix(7)): a connection a request, one packet each way. A third
// of what a job costs on the bus would be its broker's work; and a job must start while the bus is away.
#pragma once

#include "base/result.hpp"
#include "model/allocation.hpp"
#include "model/receipt.hpp"
#include "model/resource_limits.hpp"

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace pinfold {

constexpr const char* kWrapperSocket = "/run/pinfold/wrapper.sock";
constexpr std::size_t kMaxWrapperPacket = 64 << 10; ///< bytes

/// As CreateJob of org.pinfold1. With it go the leader's pidfd, then the supervisor's and the job's standard error, if they are
/// there.
struct WrapperCreate {
    std::string key; ///< empty: pinfoldd picks one
    ResourceLimits limits;
    bool supervised = false;
    bool output = false; ///< standard error goes along
    AllocationRequest allocation = {};

    bool operator==(const WrapperCreate&) const = default;
};

/// As EndJob of org.pinfold1.
struct WrapperEnd {
    std::string key;
    pid_t leader = 0; ///< whose end it is: by then a later job may have the same key
    ExitState exit;

    bool operator==(const WrapperEnd&) const = default;
};

using WrapperRequest = std::variant<WrapperCreate, WrapperEnd>;

std::string encode(const WrapperRequest& request);
/// Error: InvalidArgument. Takes only what encode() writes: nothing unknown, repeated, wrapped around or cut short.
Result<WrapperRequest> decodeWrapperRequest(std::string_view packet);

/// The answer to either.
struct WrapperReply {
    std::string key;
    std::map<std::string, std::string> environment; ///< of a new job: what it shall have in addition
    std::string notice;                             ///< of an ended job: for its standard error; empty: nothing
    std::string summary;                            ///< of an ended job: for its standard output; empty: nothing

    bool operator==(const WrapperReply&) const = default;
};

std::string encodeWrapperReply(const Result<WrapperReply>& reply);
/// What can't be read is an error of its own: Internal.
Result<WrapperReply> decodeWrapperReply(std::string_view packet);

} // namespace pinfold
