// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/live_rows.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr Microseconds kDue = 500ms;
// A row waits for other rows for at most the time kPatience, so that one transaction can write several rows.
constexpr Microseconds kPatience = 250ms;
// LiveRows refreshes all rows in one transaction, so that the number of transactions does not grow with the number of long jobs.
constexpr Microseconds kRefresh = 5min;

LiveRow rowOf(const Job& job, const Origins& origins) {
    LiveRow row{.bootId = job.record.bootId, .receipt = factsOf(job, origins)};
    row.receipt.ended = job.record.created;
    row.receipt.result = JobResult::NodeLost;
    if (job.lastLook) {
        row.receipt.ended = job.lastLook->at;
        addLastLook(row.receipt.usage, job);
        row.receipt.usage.memoryNeed = job.recorder.need();
    }
    return row;
}

} // namespace

Receipt factsOf(const Job& job, const Origins& origins) {
    const auto& record = job.record;
    Receipt receipt;
    receipt.id = record.id;
    receipt.key = record.key.text();
    receipt.uid = record.uid;
    receipt.started = record.created;
    receipt.unkillableProcesses = record.unkillableProcesses;
    receipt.tasks = record.nextTask - (job.lacksBatchScript() ? 1 : 0);
    receipt.limits = record.limits;
    receipt.limitsNotEnforced = record.limitsNotEnforced;
    receipt.allocation = record.allocation;
    receipt.origin = origins.of(record);
    receipt.slots = record.slots;
    receipt.identity = origins.identityOf(record);
    return receipt;
}

void LiveRows::expect(const JobPtr& job) {
    fresh_.push_back({job, loop_.bootTime()});
    awake();
}

void LiveRows::expectAll() {
    refreshed_ = loop_.bootTime();
    fresh_.clear();
    taken_.clear();
    for (const auto& [key, job] : registry_.all())
        if (job->runsSince != BootTime{}) // when a job begins to run, JobCloser calls expect()
            fresh_.push_back({job, job->runsSince});
    std::ranges::sort(fresh_, {}, &Fresh::since);
    timer_.reset();
    awake();
}

void LiveRows::refresh() {
    if (loop_.bootTime() >= refreshed_ + kRefresh)
        expectAll();
}

bool LiveRows::due() const { return !fresh_.empty() && fresh_.front().since + kDue <= loop_.bootTime(); }

void LiveRows::awake() {
    if (timer_ || fresh_.empty())
        return;
    const auto at = fresh_.front().since + kDue + kPatience;
    timer_ = loop_.after(timeBetween(loop_.bootTime(), at), [this] {
        timer_.reset();
        onDue();
    });
}

std::vector<LiveRow> LiveRows::take() {
    std::vector<LiveRow> rows;
    for (; due(); fresh_.pop_front()) {
        const auto job = fresh_.front().job.lock();
        if (!job || job->accountDue || job->record.neverRan)
            continue;
        rows.push_back(rowOf(*job, origins_));
        taken_.push_back(fresh_.front());
    }
    timer_.reset();
    awake();
    return rows;
}

void LiveRows::failed() {
    fresh_.insert(fresh_.begin(), taken_.begin(), taken_.end());
    taken_.clear();
}

} // namespace pinfold
