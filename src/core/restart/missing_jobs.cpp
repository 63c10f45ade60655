// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/restart/missing_jobs.hpp"

#include "core/report/events.hpp"

#include <algorithm>
#include <map>

namespace pinfold {
namespace {

constexpr Microseconds kRetry = 60s;

Receipt ending(Receipt receipt, JobResult result, RealTime end) {
    receipt.result = result;
    // If somebody has set the clock back, `end` can be earlier than the start of the job.
    receipt.ended = std::max(end, receipt.started);
    receipt.wall = receipt.ended - receipt.started;
    return receipt;
}

/// For each boot of the node, returns the latest time at which the node was certainly running.
std::map<std::string, RealTime> lastSigns(const LiveTable& live, RealTime booted) {
    std::map<std::string, RealTime> signs;
    for (const auto& job : live.rows) {
        auto& sign = signs[job.bootId];
        sign = std::max({sign, job.receipt.started, job.receipt.ended}); // Sampler read figures of the job at the time `ended`
        // A receipt does not say in which boot it was written. Each time that pinfoldd starts, it writes receipts for the jobs of
        // earlier boots. The jobs that lack a receipt ran in the boot in which pinfoldd wrote the newest receipt.
        if (live.newestEnd && *live.newestEnd <= booted)
            sign = std::max(sign, *live.newestEnd);
        if (live.lastVacuum && live.lastVacuum->bootId == job.bootId)
            sign = std::max(sign, live.lastVacuum->time);
    }
    return signs;
}

} // namespace

std::vector<Receipt> lostReceipts(const LiveTable& live, const AtStart& start) {
    const auto signs = lastSigns(live, start.booted);
    std::vector<Receipt> lost;
    for (const auto& job : live.rows) {
        if (job.bootId != start.bootId)
            lost.push_back(ending(job.receipt, JobResult::NodeLost, std::min(signs.at(job.bootId), start.booted)));
        else if (!start.mayLive(job.receipt))
            lost.push_back(ending(job.receipt, JobResult::Lost, start.now));
    }
    return lost;
}

void MissingJobs::settle(bool complete) {
    retry_.reset();
    core_.context.history.live([this, complete](const Result<LiveTable>& live) {
        if (live)
            return settle(*live, complete);
        logNodeWarning(core_.context,
                       "cannot write the receipts of the jobs that ran when the node went down, next try in 1min: " +
                           live.error().message);
        retry_ = core_.context.loop.after(kRetry, [this, complete] { settle(complete); });
    });
}

void MissingJobs::settle(const LiveTable& live, bool complete) {
    const auto& context = core_.context;
    const auto mayLive = [&](const Receipt& receipt) {
        const auto key = JobKey::parse(receipt.key);
        return !complete || !key || core_.registry.find(receipt.key) || context.cgroups.exists(slicePath(*key));
    };
    const auto now = context.loop.realTime();
    for (auto& receipt : lostReceipts(live, {context.bootId, now, bootedAt(now, context.loop.bootTime()), mayLive}))
        history_.write(std::move(receipt), [this](const Receipt& stored) {
            if (const auto key = JobKey::parse(stored.key))
                logJobLost(core_.context, *key, stored);
        });
}

} // namespace pinfold
