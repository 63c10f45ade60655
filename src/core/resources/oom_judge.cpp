// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/oom_judge.hpp"

#include "base/clock.hpp"
#include "core/report/events.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace pinfold {
namespace {

// For each out-of-memory kill, the kernel first increases a counter in memory.events, and then writes a line to its log. The line
// in the kernel's log names the killed process. If the node is a virtual machine, its host can stop the virtual CPU for some
// hundred milliseconds between the two steps.
constexpr Microseconds kLineWait = 1s;
// The clock of the kernel's log can differ a little from CLOCK_BOOTTIME, the clock of JobRecord::createdBoot.
constexpr Microseconds kClockSlack = 1s;

/// Converts a time stamp of the kernel's log into CLOCK_BOOTTIME. The clock of the kernel's log does not advance while the node
/// is suspended.
BootTime bootTimeOf(MonotonicTime logTime) {
    const auto sinceBoot = BootClock::now().time_since_epoch();
    const auto suspended = sinceBoot - std::min(sinceBoot, MonotonicClock::now().time_since_epoch());
    return BootTime(logTime.time_since_epoch() + suspended);
}

bool isJobsOwn(const Job& job, const std::string& cgroup) {
    const auto identity = identifyPath(cgroup);
    return identity && identity->key == job.key();
}

bool isOfWholeJob(const Job& job) { return job.record.limits.oomPolicy.value_or(OomPolicy::Job) == OomPolicy::Job; }

} // namespace

void OomJudge::watch(const JobPtr& job) {
    const auto file = core_.context.cgroups.eventsFile(slicePath(job->key())).replace_filename("memory.events");
    // If the kernel does not count the memory of cgroups, the file memory.events does not exist, and pinfoldd cannot watch the
    // file.
    if (auto watched = core_.context.cgroupWatch.watch(file, [this, weak = WeakJob(job)] {
            if (const auto live = weak.lock())
                look(live, false);
        }))
        job->memoryWatch = std::move(*watched);
    look(job, false);
}

bool OomJudge::endsJob(const JobPtr& job) {
    look(job, false);
    return job->oomTimer && isOfWholeJob(*job);
}

void OomJudge::conclude(const JobPtr& job) { look(job, true); }

void OomJudge::look(const JobPtr& job, bool final) {
    const auto kills = job->slice ? job->slice->oomCount().kills.value_or(0) : 0;
    if (kills <= job->record.oomKills && !(final && job->oomTimer))
        return;
    job->record.oomKills = kills;
    if (job->record.oom)
        return;
    core_.context.kernelLog.drain();
    if (final || job->oomReport || !core_.context.kernelLog.readable())
        return decide(job);
    job->oomTimer = core_.context.loop.after(kLineWait, [this, weak = WeakJob(job)] {
        // If pinfoldd was held up for longer than kLineWait, the line is possibly in the log already. conclude() reads the log.
        if (const auto live = weak.lock())
            conclude(live);
    });
}

void OomJudge::reported(const OomReport& report) {
    // The kernel limits the rate of its log lines. The kernel's log sometimes contains the line with the killed process, but
    // lacks the line with the cgroup. While the killed process is a zombie, /proc still shows its cgroup.
    const auto path =
        report.taskCgroup.empty() ? core_.context.processes.cgroupOf(report.pid) : Result<std::string>(report.taskCgroup);
    const auto identity = path ? identifyPath(*path) : std::nullopt;
    const auto job = identity ? core_.registry.find(identity->key.text()) : nullptr;
    if (!job || job->record.oom || job->oomReport || bootTimeOf(report.time) + kClockSlack < job->record.createdBoot)
        return;
    job->oomReport = report;
    if (job->oomTimer)
        decide(job);
}

OomCause OomJudge::causeOf(const Job& job) const {
    const auto& report = job.oomReport;
    if (report && report->byHand)
        return OomCause::Administrator;
    if (report && !report->limitCgroup.empty())
        return isJobsOwn(job, report->limitCgroup) ? OomCause::OwnLimit : OomCause::Node;
    if (report && !report->taskCgroup.empty())
        return OomCause::Node;
    if (job.changingLimits && job.record.limitsForcedBy)
        return OomCause::Administrator;
    return job.slice && job.slice->oomCount().events.value_or(0) > 0 ? OomCause::OwnLimit : OomCause::Node;
}

void OomJudge::decide(const JobPtr& job) {
    job->oomTimer.reset();
    if (job->record.oom)
        return;
    OomVerdict verdict;
    verdict.cause = causeOf(*job);
    verdict.at = core_.context.loop.realTime();
    verdict.limit = job->record.limits.memoryMax;
    if (const auto& report = job->oomReport) {
        verdict.victim = static_cast<std::uint32_t>(report->pid);
        verdict.victimName = report->name;
        verdict.victimRss = report->rss;
        if (isJobsOwn(*job, report->limitCgroup)) {
            verdict.anon = report->anon;
            verdict.file = report->file;
            verdict.shmem = report->shmem;
        }
    }
    job->record.oom = std::move(verdict);
    tell(job);
}

void OomJudge::killedByOomd(std::string_view path) {
    const auto identity = identifyPath(path);
    const auto job = identity ? core_.registry.find(identity->key.text()) : nullptr;
    if (!job || job->record.oom)
        return;
    job->record.oom =
        OomVerdict{OomCause::Oomd, core_.context.loop.realTime(), {}, {}, {}, job->record.limits.memoryMax, {}, {}, {}};
    tell(job);
}

void OomJudge::tell(const JobPtr& job) {
    const auto peak = job->slice ? job->slice->briefUsage().memoryPeak : std::nullopt;
    // The batch system copies the line about an out-of-memory kill from EndJob's answer into the job's output.
    job->record.oomSaid =
        !job->record.reportWithin && job->output.say(oomNotice(*job->record.oom, peak, job->key().text(), core_.nodeName()));
    core_.save(*job);
    logOutOfMemory(core_.context, *job, peak);
    core_.observer->outOfMemory(job->key(), *job->record.oom);
    if (job->record.state == JobState::Running && isOfWholeJob(*job) && onWholeJob)
        onWholeJob(job);
}

} // namespace pinfold
