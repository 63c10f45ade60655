// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/assembly.hpp"

#include "core/job_id.hpp"
#include "core/report/events.hpp"

#include <cstdint>

namespace pinfold {

Assembly::Assembly(CoreContext& context)
    : core(context), origins(context), rows(context.loop, core.registry, origins), historyWriter(context, rows),
      past(core, historyWriter), node(core, historyWriter), share(core), allocator(core, share), judge(core), warner(core),
      sampler(core, warner, rows), closer(core, {share, judge, historyWriter, rows, origins, sampler}), home(core),
      unkillable(core, node, rows), ender(core, {judge, warner, closer, unkillable}), taskEnder(core), keeper(core, share, ender),
      freezer(core, ender), signaller(core), shutdown(core, ender), creator(core, {node, share, allocator, keeper, home, ender}),
      adder(core, {allocator, creator, home, ender, taskEnder}), lost(core, historyWriter),
      recovery(core, {creator, adder, keeper, home, ender, taskEnder, freezer, lost}), reconciler(core, recovery, ender) {
    judge.onWholeJob = [this](const JobPtr& job) { ender.begin(job, {.cause = JobResult::OutOfMemory, .by = {}, .grace = 0s}); };
    unkillable.onEmpty = [this](const JobPtr& job) { ender.check(job); };
    context.cgroupWatch.onExhausted = [this](const std::string& what) { logNodeWarning(core.context, what); };
    historyWriter.onChange = [this] { node.tell(); };
    historyWriter.news().onReport = [this](const StoredReceipts& stored) { core.observer->receiptsStored(stored); };
    historyWriter.onKept = [this](const JobKey& key) { creator.tookUp(key); };
    historyWriter.onOpened = [this](std::uint64_t number) { creator.setLastManualNumber(number); };
    context.kernelLog.onOom = [this](const OomReport& report) { judge.reported(report); };
    context.systemd.onOomdKill = [this](const std::string& path) { judge.killedByOomd(path); };
    context.systemd.onUnitRemoved = [this](const std::string& unit) { look(unit); };
    context.systemd.onReloaded = [this] { lookAtAll(); };
    context.systemd.onShutdown = [this](BootTime since) { shutdown.begin(since); };
    closer.onForgotten = [this] { shutdown.jobIsOver(); };
}

Assembly::~Assembly() {
    core.context.systemd.onUnitRemoved = nullptr;
    core.context.systemd.onReloaded = nullptr;
    core.context.systemd.onShutdown = nullptr;
    core.context.systemd.onOomdKill = nullptr;
    core.context.kernelLog.onOom = nullptr;
    core.context.cgroupWatch.onExhausted = nullptr;
}

void Assembly::look(const std::string& unit) {
    const auto identity = identifyUnit(unit);
    const auto job = identity ? core.registry.find(identity->key.text()) : nullptr;
    if (!job)
        return;
    if (identity->task)
        closer.scopeRemoved(*job);
    if (identity->task.value_or(0) == 0)
        ender.check(job);
    else if (job->tasks.contains(*identity->task))
        taskEnder.check(job, *identity->task);
}

void Assembly::lookAtAll() {
    // The list is a copy, because check() can end a job and remove the job from the registry.
    const auto jobs = core.registry.all();
    for (const auto& [key, job] : jobs) {
        ender.check(job);
        const auto tasks = job->record.tasks;
        for (const auto& [number, task] : tasks)
            if (number != 0 && job->tasks.contains(number))
                taskEnder.check(job, number);
    }
}

} // namespace pinfold
