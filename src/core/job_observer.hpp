// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/requests.hpp"
#include "model/job_key.hpp"
#include "model/oom.hpp"
#include "model/receipt.hpp"

#include <cstdint>
#include <string>

namespace pinfold {

/// Gets the events of the jobs and of the node. The bus layer implements JobObserver to send signals and to update the objects on
/// the bus. pinfoldd stores the job's record before it calls a method of JobObserver.
class JobObserver {
public:
    virtual ~JobObserver() = default;
    virtual void jobAdded(const JobSummary& /*job*/) {}
    virtual void jobStateChanged(const JobKey& /*key*/) {}
    virtual void outOfMemory(const JobKey& /*key*/, const OomVerdict& /*verdict*/) {}
    /// pinfoldd calls limitNear() when the job is near its limit with the name `limit`.
    virtual void limitNear(const JobKey& /*key*/, const std::string& /*limit*/) {}
    virtual void limitsChanged(const JobKey& /*key*/) {}
    virtual void taskAdded(const JobKey& /*key*/, std::uint32_t /*task*/) {}
    virtual void taskRemoved(const JobKey& /*key*/, std::uint32_t /*task*/) {}
    virtual void leftoversFound(const JobKey& /*key*/, std::uint32_t /*task*/, std::uint64_t /*count*/) {}
    virtual void unkillable(const JobKey& /*key*/, std::uint64_t /*count*/) {}
    /// pinfoldd calls jobRemoved() when a job is over and has left the list of live jobs.
    virtual void jobRemoved(const JobKey& /*key*/, const Receipt& /*receipt*/) {}
    /// pinfoldd calls receiptAmended() if a report on the leader's end comes after the call of jobRemoved(). The receipt contains
    /// the leader's exit state from the late report.
    virtual void receiptAmended(const Receipt& /*receipt*/) {}
    /// pinfoldd calls receiptsStored() when transactions have stored new receipts in the history (StoredNews).
    virtual void receiptsStored(const StoredReceipts& /*stored*/) {}
    /// pinfoldd calls drainChanged() when the result of JobManager::draining() has changed.
    virtual void drainChanged() {}
};

} // namespace pinfold
