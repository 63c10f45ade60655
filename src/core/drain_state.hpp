// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether this node takes jobs. It takes no jobs while an administrator has drained it (also across restarts and reboots), while
// a job cannot be killed and unkillable.action is "drain", and while receipts cannot be written and history.on_failure is
// "drain". It takes no jobs while it is being shut down either, but this is not a drain: nobody has to end it.
#pragma once

#include "core/core.hpp"
#include "core/history/history_writer.hpp"
#include "model/drain.hpp"

#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>

namespace pinfold {

class DrainState {
public:
    DrainState(Core& core, const HistoryWriter& history);

    /// Reads, at start, the drain that an earlier pinfoldd has stored. A file that cannot be read counts as a drain, and the
    /// journal has an entry about it.
    void load();

    /// Drains the node: it takes no new jobs from the answer on. The newest reason replaces earlier ones, but a call without a
    /// reason leaves a drain as it is. Errors: InvalidArgument; Busy when the disk hangs; Internal when the drain cannot be
    /// stored. Internal says what is in force then, which is what a restart would read.
    void drain(uid_t by, std::string_view reason, Reply<void> reply);
    /// Ends an administrator's drain, if there is one. Errors: Busy and Internal, as drain().
    void resume(uid_t by, Reply<void> reply);

    /// Why the node takes no jobs. Unset: it takes jobs.
    std::optional<Drain> draining() const;
    /// Success: the node takes jobs. Error: Draining.
    Result<void> takesJobs() const;

    /// Tells the observer if draining() has changed since the last call.
    void tell();

private:
    struct Change {
        std::optional<Drain> wanted; ///< unset: the end of a drain
        uid_t by = 0;
        Reply<void> reply;
    };
    struct Stored;
    void ask(Change change);
    void storeNext();
    void stored(const Change& change, const Stored& result);

    Core& core_;
    const HistoryWriter& history_;
    std::filesystem::path file_;
    std::optional<Drain> drain_; ///< an administrator's
    std::deque<Change> changes_; ///< each change is stored and answered before the next
    bool storing_ = false;
    std::optional<Drain> told_;
};

} // namespace pinfold
