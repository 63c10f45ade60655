// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/job_manager.hpp"

#include "base/escape.hpp"
#include "core/control/job_freezer.hpp"
#include "core/control/job_signaller.hpp"
#include "core/control/process_list.hpp"
#include "core/drain_state.hpp"
#include "core/end/end_report.hpp"
#include "core/end/job_closer.hpp"
#include "core/end/job_ender.hpp"
#include "core/end/task_ender.hpp"
#include "core/end/unkillable.hpp"
#include "core/history/history_writer.hpp"
#include "core/history/past_jobs.hpp"
#include "core/report/events.hpp"
#include "core/resources/limit_keeper.hpp"
#include "core/resources/node_shares.hpp"
#include "core/restart/node_shutdown.hpp"
#include "core/restart/reconciler.hpp"
#include "core/restart/recovery.hpp"
#include "core/start/job_creator.hpp"
#include "core/start/process_check.hpp"
#include "core/start/supervisor_home.hpp"
#include "core/start/task_adder.hpp"
#include "os/block_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace pinfold {
namespace {

constexpr std::size_t kMaxAdopted = 16; // dbus-daemon passes at most 16 descriptors in one message

} // namespace

struct JobManager::Impl {
    explicit Impl(CoreContext& context)
        : core(context), origins(context), rows(context.loop, core.registry, origins), historyWriter(context, rows),
          past(core, historyWriter), node(core, historyWriter), share(core), allocator(core, share), judge(core), warner(core),
          sampler(core, warner, rows), closer(core, {share, judge, historyWriter, rows, origins, sampler}), home(core),
          unkillable(core, node, rows), ender(core, {judge, warner, closer, unkillable}), taskEnder(core),
          keeper(core, share, ender), freezer(core, ender), signaller(core), shutdown(core, ender),
          creator(core, {node, share, allocator, keeper, home, ender}), adder(core, {allocator, creator, home, ender, taskEnder}),
          lost(core, historyWriter), recovery(core, {creator, adder, keeper, home, ender, taskEnder, freezer, lost}),
          reconciler(core, recovery, ender) {
        judge.onWholeJob = [this](const JobPtr& job) {
            ender.begin(job, {.cause = JobResult::OutOfMemory, .by = {}, .grace = 0s});
        };
        unkillable.onEmpty = [this](const JobPtr& job) { ender.check(job); };
        context.cgroupWatch.onExhausted = [this](const std::string& what) { logNodeWarning(core.context, what); };
        historyWriter.onChange = [this] { node.tell(); };
        historyWriter.onStored = [this](const StoredReceipts& stored) { core.observer->receiptsStored(stored); };
        historyWriter.onKept = [this](const JobKey& key) { creator.tookUp(key); };
        historyWriter.onOpened = [this](std::uint64_t number) { creator.setLastManualNumber(number); };
        context.kernelLog.onOom = [this](const OomReport& report) { judge.reported(report); };
        context.systemd.onOomdKill = [this](const std::string& path) { judge.killedByOomd(path); };
        context.systemd.onUnitRemoved = [this](const std::string& unit) { look(unit); };
        context.systemd.onReloaded = [this] { lookAtAll(); };
        context.systemd.onShutdown = [this] { shutdown.begin(); };
        closer.onForgotten = [this] { shutdown.jobIsOver(); };
    }

    /// Returns the job if the caller may make the request in the job's present phase. Returns null if the job does not exist
    /// and the request does not need a live job.
    Result<JobPtr> permitted(const Caller& caller, Action action, const std::string& key) const {
        auto job = core.registry.find(key);
        if (auto allowed = decide(caller, action, targetOf(key, job.get())); !allowed)
            return allowed.error();
        return job;
    }

    void look(const std::string& unit) {
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

    void lookAtAll() {
        // The list is a copy, because check() may end a job and remove the job from the registry.
        const auto jobs = core.registry.all();
        for (const auto& [key, job] : jobs) {
            ender.check(job);
            const auto tasks = job->record.tasks;
            for (const auto& [number, task] : tasks)
                if (number != 0 && job->tasks.contains(number))
                    taskEnder.check(job, number);
        }
    }

    Core core;
    Origins origins;
    LiveRows rows;
    HistoryWriter historyWriter;
    PastJobs past;
    DrainState node;
    BatchSliceShare share;
    Allocator allocator;
    OomJudge judge;
    LimitWarner warner;
    Sampler sampler;
    JobCloser closer;
    SupervisorHome home;
    UnkillablePolicy unkillable;
    JobEnder ender;
    TaskEnder taskEnder;
    LimitKeeper keeper;
    JobFreezer freezer;
    JobSignaller signaller;
    NodeShutdown shutdown;
    JobCreator creator;
    TaskAdder adder;
    MissingJobs lost;
    Recovery recovery;
    Reconciler reconciler;
};

JobManager::JobManager(CoreContext& context) : impl_(std::make_unique<Impl>(context)) {}
JobManager::~JobManager() {
    impl_->core.context.systemd.onUnitRemoved = nullptr;
    impl_->core.context.systemd.onReloaded = nullptr;
    impl_->core.context.systemd.onShutdown = nullptr;
    impl_->core.context.systemd.onOomdKill = nullptr;
    impl_->core.context.kernelLog.onOom = nullptr;
    impl_->core.context.cgroupWatch.onExhausted = nullptr;
}

void JobManager::setObserver(JobObserver* observer) { impl_->core.observer = observer; }

void JobManager::recover(std::function<void(Result<void>)> ready) {
    impl_->node.load();
    impl_->share.apply();
    impl_->historyWriter.start([this, ready = std::move(ready)] { takeUp(ready); });
}

void JobManager::takeUp(std::function<void(Result<void>)> ready) {
    impl_->recovery.run([this, ready = std::move(ready)](Result<void> done) {
        if (done) {
            // The node may have an old comment of an earlier pinfoldd about a job that is over now. publish() updates or removes
            // the old comment.
            impl_->unkillable.publish();
            impl_->reconciler.run(false, [this](const Result<Reconciliation>& reconciled) {
                if (!reconciled)
                    logNodeWarning(impl_->core.context, "cannot look for orphaned units: " + reconciled.error().message);
            });
        }
        // pinfoldd must know all jobs before it begins to watch the kernel's log, because the log may name a process of any job
        // as the victim of an out-of-memory kill.
        impl_->core.context.kernelLog.watch(impl_->core.context.loop);
        impl_->share.protect();
        ready(std::move(done));
    });
}

bool JobManager::shuttingDown() const { return impl_->core.shutdownSince.has_value(); }
void JobManager::finishShutdown(std::function<void()> done) { impl_->shutdown.finish(std::move(done)); }
void JobManager::storeChanges() { impl_->core.saveDue(); }

void JobManager::configChanged() {
    impl_->share.apply();
    impl_->unkillable.publish();
    impl_->sampler.configChanged();
}

void JobManager::drain(const Caller& caller, const std::string& reason, Reply<void> reply) {
    if (auto allowed = decide(caller, Action::Drain, {}); !allowed)
        return reply(allowed);
    impl_->node.drain(caller.uid, reason, std::move(reply));
}

void JobManager::undrain(const Caller& caller, Reply<void> reply) {
    if (auto allowed = decide(caller, Action::Undrain, {}); !allowed)
        return reply(allowed);
    impl_->node.resume(caller.uid, std::move(reply));
}

std::optional<Drain> JobManager::draining() const { return impl_->node.draining(); }

void JobManager::reconcile(const Caller& caller, bool dryRun, Reply<Reconciliation> reply) {
    if (auto allowed = decide(caller, Action::Reconcile, {}); !allowed)
        return reply(allowed.error());
    impl_->reconciler.run(dryRun, std::move(reply));
}

void JobManager::createJob(const Caller& caller, CreateRequest request, Reply<JobSummary> reply) {
    impl_->creator.create(caller, std::move(request), std::move(reply));
}

void JobManager::openJob(const Caller& caller, CreateRequest request, Reply<JobSummary> reply) {
    impl_->creator.open(caller, std::move(request), std::move(reply));
}

void JobManager::addTask(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply) {
    impl_->adder.add(caller, std::move(request), std::move(reply));
}

void JobManager::adopt(const Caller& caller, const std::string& key, AdoptRequest request, Reply<TaskAdded> reply) {
    const auto& processes = request.processes;
    if (processes.empty() || processes.size() > kMaxAdopted)
        return reply(Error{ErrorCode::InvalidArgument,
                           fmt::format("{} processes were named: adopt 1 to 16 processes in one call", processes.size())});
    auto job = impl_->core.find(key);
    if (!job)
        return reply(job.error());
    impl_->adder.adopt(caller, *job, std::move(request), std::move(reply));
}

void JobManager::endJob(const Caller& caller, const std::string& key, EndReport report, Reply<Receipt> reply) {
    auto job = impl_->permitted(caller, Action::EndJob, key);
    if (!job && job.error().code != ErrorCode::NoSuchJob)
        return reply(job.error());
    if (auto prepared = prepareFacts(caller, report); !prepared)
        return reply(prepared.error());
    const auto late = [this, caller, report, reply](const Result<Receipt>& receipt) {
        receipt ? impl_->past.reportLate(caller, *receipt, report, reply) : reply(receipt.error());
    };
    if (!job || (report.leader && summarize(**job).leader != *report.leader))
        return impl_->past.newestReceipt(caller, Action::EndJob, key, late);
    // In the state Accounting, pinfoldd may be writing the receipt already, so it adds the report to the receipt afterwards.
    (*job)->waiters.push_back((*job)->record.state == JobState::Accounting ? late : std::move(reply));
    impl_->ender.reportExit(*job, report, caller.admin);
}

void JobManager::stopJob(const Caller& caller, const std::string& key, std::optional<Microseconds> grace, Reply<void> reply) {
    auto job = impl_->permitted(caller, Action::StopJob, key);
    if (!job)
        return reply(job.error());
    impl_->ender.begin(*job, {JobResult::Stopped, caller.uid, caller.admin ? grace : impl_->ender.graceOfOwner(**job, grace)});
    reply({});
}

void JobManager::killJob(const Caller& caller, const std::string& key, int signal, Reply<void> reply) {
    auto job = impl_->permitted(caller, Action::KillJob, key);
    if (!job)
        return reply(job.error());
    caller.admin ? impl_->signaller.send(*job, signal, std::move(reply)) : impl_->signaller.sendAsOwner(*job, signal, reply);
}

void JobManager::suspendJob(const Caller& caller, const std::string& key, Reply<void> reply) {
    auto job = impl_->permitted(caller, Action::SuspendJob, key);
    if (!job)
        return reply(job.error());
    impl_->freezer.suspend(*job, caller, std::move(reply));
}

void JobManager::resumeJob(const Caller& caller, const std::string& key, Reply<void> reply) {
    auto job = impl_->permitted(caller, Action::ResumeJob, key);
    if (!job)
        return reply(job.error());
    impl_->freezer.resume(*job, caller.uid, std::move(reply));
}

void JobManager::setLimits(const Caller& caller, const std::string& key, ResourceLimits change, bool force,
                           Reply<ResourceLimits> reply) {
    auto job = impl_->permitted(caller, Action::SetLimits, key);
    if (!job)
        return reply(job.error());
    const auto merged = LimitKeeper::merged((*job)->record.limits, change);
    if (!merged)
        return reply(merged.error());
    auto target = targetOf(key, job->get());
    target.looserLimit = looserThan(*merged, (*job)->record.limits, wholeDisk);
    if (auto allowed = decide(caller, Action::SetLimits, target); !allowed)
        return reply(allowed.error());
    impl_->keeper.change(*job, {std::move(change), caller.uid, force}, std::move(reply));
}

void JobManager::waitJob(const Caller& caller, const std::string& key, Reply<Receipt> reply) {
    auto job = impl_->permitted(caller, Action::WaitJob, key);
    if (job)
        return (*job)->waiters.push_back(std::move(reply));
    if (job.error().code != ErrorCode::NoSuchJob)
        return reply(job.error());
    impl_->past.newestReceipt(caller, Action::WaitJob, key, std::move(reply));
}

void JobManager::waitTask(const Caller& caller, const std::string& key, std::uint32_t task, const EndReport& report,
                          Reply<void> reply) {
    auto job = impl_->permitted(caller, Action::WaitTask, key);
    if (!job)
        return reply(job.error());
    if (*job && (caller.admin || caller.uid == (*job)->record.uid))
        impl_->taskEnder.reportExit(*job, task, report);
    if (!*job || !(*job)->tasks.contains(task))
        return reply({});
    const auto& known = (*job)->record.tasks[task].leader;
    if (report.leader && known && known->pid != *report.leader)
        return reply({});
    (*job)->tasks[task].waiters.push_back(std::move(reply));
}

std::vector<JobSummary> JobManager::jobs() const {
    std::vector<JobSummary> all;
    all.reserve(impl_->core.registry.all().size());
    for (const auto& [key, job] : impl_->core.registry.all())
        all.push_back(summarize(*job));
    return all;
}

std::vector<JobSummary> JobManager::jobsAfter(const std::string& key) const {
    const auto& all = impl_->core.registry.all();
    std::vector<JobSummary> some;
    for (auto job = all.upper_bound(key); job != all.end() && some.size() < kMostJobsAtOnce; ++job)
        some.push_back(summarize(*job->second));
    return some;
}

std::vector<JobSummary> JobManager::jobsOfUser(uid_t uid) const {
    std::vector<JobSummary> summaries;
    for (const auto& job : impl_->core.registry.jobsOf(uid))
        summaries.push_back(summarize(*job));
    return summaries;
}

std::size_t JobManager::jobCount() const { return impl_->core.registry.all().size(); }

std::size_t JobManager::unkillableCount() const {
    const auto stuck = unkillableJobs(impl_->core.registry);
    return stuck ? stuck->count : 0;
}

std::optional<IdleJobs> JobManager::idleJobs() const { return impl_->sampler.idleJobs(); }

NodeResources JobManager::resources() const { return nodeResources(impl_->core, impl_->share); }

std::optional<std::string> JobManager::userName(uid_t uid) const { return impl_->origins.nameOf(uid); }

HistoryFigures JobManager::historyFigures() const { return impl_->historyWriter.figures(); }

Result<JobSummary> JobManager::job(const std::string& key) const {
    auto found = impl_->core.find(key);
    if (!found)
        return found.error();
    return summarize(**found);
}

Result<std::pair<JobSummary, std::uint32_t>> JobManager::jobOfProcess(pid_t pid) const {
    const auto path = impl_->core.context.processes.cgroupOf(pid);
    if (!path)
        return path.error();
    const auto identity = identifyPath(*path);
    const auto found = identity ? impl_->core.registry.find(identity->key.text()) : nullptr;
    if (!found)
        return Error{ErrorCode::NoSuchJob, fmt::format("process {} does not belong to a job", pid)};
    return std::pair{summarize(*found), identity->task.value_or(0)};
}

Result<JobSummary> JobManager::jobOfUnit(const std::string& unit) const {
    const auto identity = identifyUnit(unit);
    if (!identity)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("'{}' is not a unit of a job: use batch-….slice or job-….scope", printable(unit, 300))};
    return job(identity->key.text());
}

void JobManager::processes(const Caller& caller, const std::string& key, pid_t after, Reply<std::vector<JobProcess>> reply) {
    const auto job = impl_->permitted(caller, Action::ListProcesses, key);
    if (!job)
        return reply(job.error());
    listProcesses(impl_->core, **job, after, std::move(reply));
}

Result<Usage> JobManager::usage(const Caller& caller, const std::string& key) const {
    const auto job = impl_->permitted(caller, Action::GetUsage, key);
    if (!job)
        return job.error();
    // After the end of a job, its slice may be gone, so the record contains the job's last usage figures.
    const auto& figures = (*job)->record.figures;
    return figures ? figures->usage : lookAtUsage(**job);
}

void JobManager::receipt(const Caller& caller, const std::string& key, Reply<Receipt> reply) const {
    impl_->past.newestReceipt(caller, Action::GetReceipt, key, std::move(reply));
}

void JobManager::profile(const Caller& caller, const std::string& key, Reply<Profile> reply) const {
    const auto job = impl_->core.registry.find(key);
    if (!job)
        return impl_->past.profile(caller, key, std::move(reply));
    if (auto allowed = decide(caller, Action::GetProfile, targetOf(key, job.get())); !allowed)
        return reply(allowed.error());
    reply(job->recorder.profile());
}

void JobManager::receipts(const Caller& caller, ReceiptFilter filter, Reply<std::vector<Receipt>> reply) const {
    filter.limit = std::min(filter.limit, kMostReceiptsAtOnce);
    impl_->past.receipts(caller, std::move(filter), std::move(reply));
}

} // namespace pinfold
