// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether this node takes jobs: not while an administrator has drained it, across restarts and reboots, nor while a job can't be
// killed and unkillable.action is "drain".
#pragma once

#include "core/core.hpp"
#include "model/drain.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace pinfold {

class NodeState {
public:
    explicit NodeState(Core& core);

    /// At start: what an earlier pinfoldd was told. A file that can't be read counts as a drain, and is said loudly.
    void load();

    /// No new jobs from now on. The newest word stands, but one without a reason leaves a drain as it is. Errors:
    /// InvalidArgument; Internal when it can't be stored, and then nothing has changed.
    Result<void> drain(uid_t by, std::string_view reason);
    /// Ends an administrator's drain, if there is one. Error: Internal as above.
    Result<void> resume(uid_t by);

    /// Unset: it takes jobs.
    std::optional<Drain> draining() const;
    /// Error: Draining.
    Result<void> takesJobs() const;

    /// Tells the observer when draining() is not what it was at the last call.
    void tell();

private:
    Core& core_;
    std::filesystem::path file_;
    std::optional<Drain> drain_; ///< an administrator's
    std::optional<Drain> told_;
};

} // namespace pinfold
