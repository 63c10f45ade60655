// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/job_manager.hpp"

#include "base/escape.hpp"
#include "core/assembly.hpp"
#include "core/control/process_list.hpp"
#include "core/end/end_report.hpp"
#include "core/report/events.hpp"
#include "core/resources/node_shares.hpp"
#include "core/start/process_check.hpp"
#include "os/block_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace pinfold {
namespace {

constexpr std::size_t kMaxAdopted = 16; // dbus-daemon passes at most 16 descriptors in one message

/// Returns the job if the caller is allowed to make the request in the job's present phase. If no live job has the key, a request
/// that needs no live job gets null.
Result<JobPtr> permitted(const Core& core, const Caller& caller, Action action, const std::string& key) {
    auto job = core.registry.find(key);
    if (auto allowed = decide(caller, action, targetOf(key, job.get())); !allowed)
        return allowed.error();
    return job;
}

} // namespace

JobManager::JobManager(CoreContext& context) : impl_(std::make_unique<Assembly>(context)) {}
JobManager::~JobManager() = default;

void JobManager::setObserver(JobObserver* observer) { impl_->core.observer = observer; }

void JobManager::recover(std::function<void(Result<void>)> ready) {
    impl_->node.load();
    impl_->share.apply();
    impl_->historyWriter.start([this, ready = std::move(ready)] { takeUp(ready); });
}

void JobManager::takeUp(std::function<void(Result<void>)> ready) {
    impl_->recovery.run([this, ready = std::move(ready)](Result<void> done) {
        if (done) {
            // The node's comment from an earlier pinfoldd possibly names jobs that are over. publish() corrects the node's
            // comment.
            impl_->unkillable.publish();
            impl_->reconciler.run(false, [this](const Result<Reconciliation>& reconciled) {
                if (!reconciled)
                    logNodeWarning(impl_->core.context, "cannot look for orphaned units: " + reconciled.error().message);
            });
        }
        // pinfoldd must know all jobs before it begins to watch the kernel's log. The kernel's log can report an out-of-memory
        // kill in any job.
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
    auto job = permitted(impl_->core, caller, Action::EndJob, key);
    if (!job && job.error().code != ErrorCode::NoSuchJob)
        return reply(job.error());
    if (auto prepared = prepareFacts(caller, report); !prepared)
        return reply(prepared.error());
    const auto late = [this, caller, report, reply](const Result<Receipt>& receipt) {
        receipt ? impl_->past.reportLate(caller, *receipt, report, reply) : reply(receipt.error());
    };
    if (!job || (report.leader && summarize(**job).leader != *report.leader))
        return impl_->past.newestReceipt(caller, Action::EndJob, key, late);
    // In the state Accounting, pinfoldd is possibly writing the receipt. `late` adds the facts from EndJob's report to the
    // finished receipt.
    (*job)->waiters.push_back((*job)->record.state == JobState::Accounting ? late : std::move(reply));
    impl_->ender.reportExit(*job, report, caller.admin);
}

void JobManager::stopJob(const Caller& caller, const std::string& key, std::optional<Microseconds> grace, Reply<void> reply) {
    auto job = permitted(impl_->core, caller, Action::StopJob, key);
    if (!job)
        return reply(job.error());
    impl_->ender.begin(*job, {JobResult::Stopped, caller.uid, caller.admin ? grace : impl_->ender.graceOfOwner(**job, grace)});
    reply({});
}

void JobManager::killJob(const Caller& caller, const std::string& key, int signal, Reply<void> reply) {
    auto job = permitted(impl_->core, caller, Action::KillJob, key);
    if (!job)
        return reply(job.error());
    caller.admin ? impl_->signaller.send(*job, signal, std::move(reply)) : impl_->signaller.sendAsOwner(*job, signal, reply);
}

void JobManager::suspendJob(const Caller& caller, const std::string& key, Reply<void> reply) {
    auto job = permitted(impl_->core, caller, Action::SuspendJob, key);
    if (!job)
        return reply(job.error());
    impl_->freezer.suspend(*job, caller, std::move(reply));
}

void JobManager::resumeJob(const Caller& caller, const std::string& key, Reply<void> reply) {
    auto job = permitted(impl_->core, caller, Action::ResumeJob, key);
    if (!job)
        return reply(job.error());
    impl_->freezer.resume(*job, caller.uid, std::move(reply));
}

void JobManager::setLimits(const Caller& caller, const std::string& key, ResourceLimits change, bool force,
                           Reply<ResourceLimits> reply) {
    auto job = permitted(impl_->core, caller, Action::SetLimits, key);
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
    auto job = permitted(impl_->core, caller, Action::WaitJob, key);
    if (job)
        return (*job)->waiters.push_back(std::move(reply));
    if (job.error().code != ErrorCode::NoSuchJob)
        return reply(job.error());
    impl_->past.newestReceipt(caller, Action::WaitJob, key, std::move(reply));
}

void JobManager::waitTask(const Caller& caller, const std::string& key, std::uint32_t task, const EndReport& report,
                          Reply<void> reply) {
    auto job = permitted(impl_->core, caller, Action::WaitTask, key);
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
    const auto job = permitted(impl_->core, caller, Action::ListProcesses, key);
    if (!job)
        return reply(job.error());
    listProcesses(impl_->core, **job, after, std::move(reply));
}

Result<Usage> JobManager::usage(const Caller& caller, const std::string& key) const {
    const auto job = permitted(impl_->core, caller, Action::GetUsage, key);
    if (!job)
        return job.error();
    // After the end of a job, its slice can be gone, so the record contains the job's last usage figures.
    const auto& figures = (*job)->record.figures;
    return figures ? figures->usage : lookAtUsage(**job);
}

Result<JobIdentity> JobManager::identity(const Caller& caller, const std::string& key) const {
    const auto job = permitted(impl_->core, caller, Action::GetIdentity, key);
    if (!job)
        return job.error();
    return impl_->origins.identityOf((*job)->record);
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
