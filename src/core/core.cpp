// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/core.hpp"

#include "core/report/events.hpp"

#include <fmt/core.h>

#include <utility>

namespace pinfold {
namespace {

JobObserver nobody;

} // namespace

Core::Core(CoreContext& coreContext)
    : context(coreContext), describer(coreContext), killer(coreContext), leftoverLog(coreContext), refusalLog(coreContext),
      outputs(coreContext.background), observer(&nobody) {}

bool Core::save(const Job& job) {
    if (!registry.has(job))
        return false;
    auto saved = context.records.save(job.record);
    if (!saved)
        logWarning(context, job.key(),
                   "the job's record was not stored, so a restarted pinfoldd would not know the job's newest state: " +
                       saved.error().message,
                   Trouble::Record);
    return static_cast<bool>(saved);
}

void Core::saveSoon(const JobPtr& job) {
    job->idleSave = context.loop.whenIdle([this, weak = WeakJob(job)] {
        const auto live = weak.lock();
        if (!live)
            return;
        live->idleSave.reset();
        save(*live);
    });
}

void Core::saveDue() {
    for (const auto& [key, job] : registry.all())
        if (std::exchange(job->idleSave, nullptr))
            save(*job);
}

bool Core::advance(Job& job, JobState next) {
    if (!mayFollow(job.record.state, next)) {
        logWarning(context, job.key(), fmt::format("it cannot go from {} to {}", toString(job.record.state), toString(next)));
        return false;
    }
    job.record.state = next;
    return true;
}

bool Core::enter(Job& job, JobState next) {
    if (!advance(job, next))
        return false;
    save(job);
    return true;
}

Result<JobPtr> Core::find(const std::string& key) const {
    if (auto job = registry.find(key))
        return job;
    return possible(Action::GetJob, Phase::NoJob, key).error();
}

std::string Core::nodeName() const {
    const auto name = context.hostName();
    return name.empty() ? "this node" : name;
}

} // namespace pinfold
