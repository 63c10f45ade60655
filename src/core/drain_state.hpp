// SPDX-License-Identifier: LGPL-2.1-or-later
// Says whether this node takes jobs. A drained node takes no jobs. An administrator's drain lasts across restarts and reboots.
// With unkillable.action = "drain", pinfoldd drains the node while a job cannot be killed. With history.on_failure = "drain",
// pinfoldd drains the node while receipts cannot be written. During a shutdown, the node takes no new jobs. A shutdown is not a
// drain, so nobody has to end a drain when the node is up again.
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

    /// Finds out from the drain file whether the node was drained before pinfoldd started. Call load() at the start of pinfoldd.
    /// If load() cannot read the drain file, it drains the node and writes an entry to the journal.
    void load();

    /// Drains the node. When drain() has answered without an error, the node takes no new jobs. If the node is drained already, a
    /// new reason replaces the old reason. If `reason` is empty, drain() does not change the drain of an administrator. drain()
    /// fails with InvalidArgument, Busy or Internal. The error is Busy if the disk hangs, and Internal if the drain cannot be
    /// stored. If the error is `Internal`, the message of the error says whether the node is drained now. After the error
    /// `Internal`, the drain on the disk is the same as the drain in memory.
    void drain(uid_t by, std::string_view reason, Reply<void> reply);
    /// Ends an administrator's drain, if there is one. The error is Busy if the disk hangs, and Internal if the end of the
    /// drain cannot be stored.
    void resume(uid_t by, Reply<void> reply);

    /// Says why the node takes no jobs, or returns nullopt if the node takes jobs.
    std::optional<Drain> draining() const;
    /// Succeeds if the node takes jobs. Error: Draining.
    Result<void> takesJobs() const;

    /// Informs the observer if the result of draining() has changed since the last call of tell().
    void tell();

private:
    struct Change {
        std::optional<Drain> wanted; ///< the new drain; unset if the request ends the drain
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
    std::deque<Change> changes_; ///< the requests to change the drain; pinfoldd handles the requests one after the other
    bool storing_ = false;
    std::optional<Drain> told_;
};

} // namespace pinfold
