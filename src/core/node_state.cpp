// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/node_state.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "core/events.hpp"
#include "core/unkillable.hpp"
#include "os/read_file.hpp"
#include "os/replace_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace pinfold {
namespace {

constexpr mode_t kMode = 0600;

Error notStored(const Error& why, const char* asBefore) {
    return {ErrorCode::Internal, "not stored, so nothing has changed and the node " + std::string(asBefore) + ": " + why.message};
}

std::string inWords(const Drain& drain) {
    if (!drain.by || !drain.since)
        return drain.reason;
    return "drained by user " + std::to_string(*drain.by) + " at " + formatUtc(*drain.since) +
           (drain.reason.empty() ? "" : ": " + drain.reason);
}

} // namespace

NodeState::NodeState(Core& core) : core_(core), file_(core.context.root / "var/lib/pinfold/drain.json") {}

void NodeState::load() {
    const auto text = readFile(AT_FDCWD, file_.c_str());
    if (!text && errno == ENOENT)
        return;
    const auto failure = std::string(std::strerror(errno));
    auto drain = text ? decodeDrain(*text) : Result<Drain>(Error{ErrorCode::Internal, failure});
    if (drain) {
        drain_ = std::move(*drain);
        return;
    }
    drain_ = Drain{.reason = printable(file_.string()) + " is unreadable (" + drain.error().message +
                             "): say anew what is to be, by `pinfold drain` or `pinfold resume`",
                   .since = {},
                   .by = {}};
    logDrainUnreadable(core_.context, drain_->reason);
}

Result<void> NodeState::drain(uid_t by, std::string_view reason) {
    if (reason.size() > Drain::kMostReason)
        return Error{ErrorCode::InvalidArgument, "a reason of " + std::to_string(reason.size()) + " bytes: at most " +
                                                     std::to_string(Drain::kMostReason) + " are kept"};
    const bool asked = drain_ && drain_->by;
    if (asked && reason.empty())
        return {};
    Drain drain{.reason = printable(reason), .since = core_.context.loop.realTime(), .by = by};
    if (auto stored = replaceFileDurably(file_, encode(drain), kMode); !stored)
        return notStored(stored.error(), drain_ ? "is drained as before" : "takes jobs");
    drain_ = std::move(drain);
    logDrained(core_.context, *drain_);
    tell();
    return {};
}

Result<void> NodeState::resume(uid_t by) {
    if (!drain_)
        return {};
    if (auto removed = removeFileDurably(file_); !removed)
        return notStored(removed.error(), "is drained as before");
    drain_.reset();
    logUndrained(core_.context, by);
    tell();
    return {};
}

std::optional<Drain> NodeState::draining() const {
    const auto stuck =
        core_.context.config.unkillable.action == UnkillableAction::Drain ? unkillableJobs(core_.registry) : std::nullopt;
    if (!stuck)
        return drain_;
    auto drain = drain_.value_or(Drain{.reason = {}, .since = stuck->since, .by = {}});
    drain.reason += (drain.reason.empty() ? "" : "; ") + stuck->words + " (unkillable.action = \"drain\")";
    return drain;
}

Result<void> NodeState::takesJobs() const {
    if (const auto drain = draining())
        return Error{ErrorCode::Draining, "this node takes no jobs for now: " + inWords(*drain)};
    return {};
}

void NodeState::tell() {
    auto now = draining();
    if (now == told_)
        return;
    told_ = std::move(now);
    core_.context.metrics.drainChanged();
    core_.observer->drainChanged();
}

} // namespace pinfold
