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
    virtual void jobAdded(const JobSummary& /*job*/) {}
    virtual void jobStateChanged(const JobKey& /*key*/) {}
    virtual void outOfMemory(const JobKey& /*key*/, const OomVerdict& /*verdict*/) {}
    virtual void limitsChanged(const JobKey& /*key*/) {}
    virtual void taskAdded(const JobKey& /*key*/, std::uint32_t /*task*/) {}
    virtual void taskRemoved(const JobKey& /*key*/, std::uint32_t /*task*/) {}
    virtual void leftoversFound(const JobKey& /*key*/, std::uint32_t /*task*/, std::uint64_t /*count*/) {}
    virtual void unkillable(const JobKey& /*key*/, std::uint64_t /*count*/) {}
    /// By now no query finds the job.
    virtual void jobRemoved(const JobKey& /*key*/, const Receipt& /*receipt*/) {}
    /// Somebody reported the leader's end after jobRemoved().
    virtual void receiptAmended(const Receipt& /*receipt*/) {}
    /// The answer of JobManager::draining() has changed.
    virtual void drainChanged() {}
};

} // namespace pinfold
