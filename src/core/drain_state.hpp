// SPDX-License-Identifier: LGPL-2.1-or-later
// Says whether this node takes jobs. The node takes no jobs while an administrator has drained it (also across restarts and
// reboots), while a job cannot be killed and unkillable.action is "drain", and while receipts cannot be written and
// history.on_failure is "drain". At a shutdown the node takes no jobs either, but a shutdown is not a drain, and nobody has to
// end it.
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

    /// Reads, at start, the drain that an earlier pinfoldd has stored. If pinfoldd cannot read the file, the node counts as
    /// drained, and the journal has an entry about that.
    void load();

    /// Drains the node: from the answer on, the node takes no new jobs. The newest reason replaces earlier ones, but a call
    /// without a reason leaves an existing drain as it is. Errors: InvalidArgument; Busy if the disk hangs; Internal if the drain
    /// cannot be stored. After Internal, a restarted pinfoldd would read what the message says, and that is also in force now.
    void drain(uid_t by, std::string_view reason, Reply<void> reply);
    /// Ends an administrator's drain, if there is one. Errors: the same Busy and Internal as drain().
    void resume(uid_t by, Reply<void> reply);

    /// Says why the node takes no jobs, or returns nullopt if the node takes jobs.
    std::optional<Drain> draining() const;
    /// Succeeds if the node takes jobs. Error: Draining.
    Result<void> takesJobs() const;

    /// Tells the observer if the answer of draining() has changed since the last call of tell().
    void tell();

private:
    struct Change {
        std::optional<Drain> wanted; ///< the new drain; unset if the drain is to end
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
    std::optional<Drain> drain_; ///< the drain of an administrator
    std::deque<Change> changes_; ///< pinfoldd stores and answers each change before it begins the next
    bool storing_ = false;
    std::optional<Drain> told_;
};

} // namespace pinfold
