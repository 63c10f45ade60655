// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether this node takes jobs: not while an administrator has drained it, across restarts and reboots, nor while a job can't be
// killed and unkillable.action is "drain", nor while receipts can't be written and history.on_failure is "drain", nor while it is
// being shut down, which is no drain: nobody has to end it.
#pragma once

#include "core/core.hpp"
#include "core/history_writer.hpp"
#include "model/drain.hpp"

#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>

namespace pinfold {

class NodeState {
public:
    NodeState(Core& core, const HistoryWriter& history);

    /// At start: what an earlier pinfoldd was told. A file that can't be read counts as a drain, and is said loudly.
    void load();

    /// No new jobs from the answer on. The newest word stands, but one without a reason leaves a drain as it is. Errors:
    /// InvalidArgument; Busy when the disk hangs; Internal when it can't be stored, which says what is in force then: what a
    /// restart would read.
    void drain(uid_t by, std::string_view reason, Reply<void> reply);
    /// Ends an administrator's drain, if there is one. Errors: Busy, Internal as above.
    void resume(uid_t by, Reply<void> reply);

    /// Unset: it takes jobs.
    std::optional<Drain> draining() const;
    /// Error: Draining.
    Result<void> takesJobs() const;

    /// Tells the observer when draining() is not what it was at the last call.
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
    std::deque<Change> changes_; ///< each is stored and answered before the next
    bool storing_ = false;
    std::optional<Drain> told_;
};

} // namespace pinfold
