// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/requests.hpp"
#include "model/job_key.hpp"
#include "model/oom.hpp"
#include "model/receipt.hpp"

#include <cstdint>

namespace pinfold {

/// Learns what happened to the jobs and the node. The bus's signals and objects are made from this. Each method is called after
/// pinfoldd has stored the record of the event.
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
    /// The job is over. By now no query finds the job.
    virtual void jobRemoved(const JobKey& /*key*/, const Receipt& /*receipt*/) {}
    /// Somebody has reported the leader's end after jobRemoved(), and the receipt has it now.
    virtual void receiptAmended(const Receipt& /*receipt*/) {}
    /// The answer of JobManager::draining() has changed.
    virtual void drainChanged() {}
};

} // namespace pinfold
