// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/drain_state.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "core/end/unkillable.hpp"
#include "core/report/events.hpp"
#include "os/read_file.hpp"
#include "os/replace_file.hpp"

#include <fmt/core.h>

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace pinfold {
namespace {

constexpr mode_t kMode = 0600;

/// Reads the drain file. If the node is not drained, the result is empty. If the drain file cannot be read, the error is
/// Internal.
Result<std::optional<Drain>> readDrain(const std::filesystem::path& file) {
    const auto text = readFile(AT_FDCWD, file.c_str());
    if (!text && errno == ENOENT)
        return std::optional<Drain>();
    if (!text)
        return Error{ErrorCode::Internal, std::strerror(errno)};
    auto drain = decodeDrain(*text);
    return drain ? Result<std::optional<Drain>>(std::move(*drain)) : drain.error();
}

std::string inWords(const Drain& drain) {
    if (!drain.by || !drain.since)
        return drain.reason;
    return fmt::format("drained by user {} at {}{}", *drain.by, formatUtc(*drain.since),
                       drain.reason.empty() ? "" : ": " + drain.reason);
}

} // namespace

DrainState::DrainState(Core& core, const HistoryWriter& history)
    : core_(core), history_(history), file_(inRoot(core.context.root, kStateDirectory) / "drain.json") {}

void DrainState::load() {
    auto drain = readDrain(file_);
    if (drain) {
        drain_ = std::move(*drain);
        return;
    }
    drain_ = Drain{.reason = fmt::format("{} cannot be read ({}): run `pinfold drain` or `pinfold undrain` to write it again",
                                         printable(file_.string()), drain.error().message),
                   .since = {},
                   .by = {}};
    logDrainUnreadable(core_.context, drain_->reason);
}

void DrainState::drain(uid_t by, std::string_view reason, Reply<void> reply) {
    if (reason.size() > Drain::kMostReason)
        return reply(Error{ErrorCode::InvalidArgument,
                           fmt::format("the reason has {} bytes: use at most {}", reason.size(), Drain::kMostReason)});
    ask({Drain{.reason = printable(reason), .since = core_.context.loop.realTime(), .by = by}, by, std::move(reply)});
}

void DrainState::resume(uid_t by, Reply<void> reply) { ask({std::nullopt, by, std::move(reply)}); }

void DrainState::ask(Change change) {
    changes_.push_back(std::move(change));
    storeNext();
}

/// Says whether a thread could write a changed drain to the disk.
struct DrainState::Stored {
    Result<void> done;
    Result<std::optional<Drain>> now; ///< the drain that pinfoldd would read from the disk after a restart
};

void DrainState::storeNext() {
    while (!storing_ && !changes_.empty()) {
        const auto change = std::move(changes_.front());
        changes_.pop_front();
        const bool asked = drain_ && drain_->by;
        if (change.wanted ? asked && change.wanted->reason.empty() : !drain_) {
            change.reply({});
            continue;
        }
        storing_ = core_.context.background.ask(
            Lane::Files,
            [file = file_, wanted = change.wanted] {
                auto done = wanted ? replaceFileDurably(file, encode(*wanted), kMode) : removeFileDurably(file);
                auto now = done ? Result<std::optional<Drain>>(wanted) : readDrain(file);
                return Stored{std::move(done), std::move(now)};
            },
            [this, change](const Stored& result) {
                storing_ = false;
                stored(change, result);
                storeNext();
            });
        if (!storing_)
            change.reply(
                Error{ErrorCode::Busy, fmt::format("nothing has changed: the disk of {} does not answer", file_.string())});
    }
}

void DrainState::stored(const Change& change, const Stored& result) {
    // The drain in memory must be the same as the drain on the disk. If only the fsync of the directory fails, the file on the
    // disk has changed already.
    const bool changed = result.done || (result.now && *result.now != drain_);
    if (changed) {
        drain_ = *result.now;
        drain_ ? logDrained(core_.context, *drain_) : logUndrained(core_.context, change.by);
        tell();
    }
    if (result.done)
        return change.reply({});
    const std::string state = drain_ ? "is drained" : "takes jobs";
    const auto& why = result.done.error().message;
    change.reply(
        Error{ErrorCode::Internal, changed ? fmt::format("the node {} now, but a loss of power may undo that: {}", state, why)
                                           : fmt::format("the change was not stored, so the node still {}: {}", state, why)});
}

std::optional<Drain> DrainState::draining() const {
    auto drain = drain_;
    const auto also = [&drain](const std::string& words, RealTime since) {
        if (!drain)
            drain = Drain{.reason = {}, .since = since, .by = {}};
        drain->reason += (drain->reason.empty() ? "" : "; ") + words;
    };
    const auto& config = core_.context.config;
    if (config.unkillable.action == UnkillableAction::Drain)
        if (const auto stuck = unkillableJobs(core_.registry))
            also(stuck->words + " (unkillable.action = \"drain\")", stuck->since);
    if (config.history.onFailure == HistoryFailure::Drain)
        if (const auto& trouble = history_.trouble())
            also(fmt::format("receipts cannot be written: {} (history.on_failure = \"drain\")", trouble->why), trouble->since);
    return drain;
}

Result<void> DrainState::takesJobs() const {
    if (core_.shutdownSince)
        return Error{ErrorCode::Draining, "this node takes no jobs, because it is being shut down"};
    if (const auto drain = draining())
        return Error{ErrorCode::Draining, "this node takes no jobs for now: " + inWords(*drain)};
    return {};
}

void DrainState::tell() {
    auto now = draining();
    if (now == told_)
        return;
    told_ = std::move(now);
    core_.context.metrics.drainChanged();
    core_.observer->drainChanged();
}

} // namespace pinfold
