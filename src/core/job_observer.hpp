// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/requests.hpp"
#include "model/job_key.hpp"
#include "model/oom.hpp"
#include "model/receipt.hpp"

#include <cstdint>

namespace pinfold {

/// Learns what happened, for the bus's signals and objects. Called after the record of the event is stored.
class JobObserver {
public:
    virtual ~JobObserver() = default;
    virtual void jobAdded(const JobSummary& job) = 0;
    virtual void jobStateChanged(const JobKey& key) = 0;
    virtual void outOfMemory(const JobKey& key, const OomVerdict& verdict) = 0;
    virtual void limitsChanged(const JobKey& key) = 0;
    virtual void taskAdded(const JobKey& key, std::uint32_t task) = 0;
    virtual void taskRemoved(const JobKey& key, std::uint32_t task) = 0;
    virtual void leftoversFound(const JobKey& key, std::uint32_t task, std::uint64_t count) = 0;
    virtual void unkillable(const JobKey& key, std::uint64_t count) = 0;
    /// By now no query finds the job.
    virtual void jobRemoved(const JobKey& key, const Receipt& receipt) = 0;
    virtual void receiptAmended(const Receipt& receipt) = 0; ///< somebody reported the leader's end after jobRemoved()
    /// The answer of JobManager::draining() has changed.
    virtual void drainChanged() = 0;
};

} // namespace pinfold
