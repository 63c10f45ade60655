// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/start/job_creator.hpp"

#include "base/parse.hpp"
#include "core/access/live_job_limit.hpp"
#include "core/job_id.hpp"
#include "core/report/events.hpp"
#include "core/start/start_record.hpp"
#include "model/limit_variables.hpp"
#include "os/block_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

/// Refuses a request that both reserves CPUs for the job and sets the limit allowed_cpus.
Result<void> compatible(const CreateRequest& request) {
    const auto& allocation = request.allocation;
    if ((allocation.cpus || allocation.cpuList || allocation.exclusive) && request.limits.allowedCpus)
        return Error{ErrorCode::InvalidArgument,
                     "allowed_cpus cannot be combined with cpus, cpu_list or exclusive: use only one of them"};
    return {};
}

bool saysMoreThanLabels(const JobIdentity& identity) { return identity != JobIdentity{.labels = identity.labels}; }

ResourceLimits withAllocation(ResourceLimits limits, const Allocator::Grant& grant) {
    if (grant.allocation.cpus.empty())
        return limits;
    limits.allowedCpus = grant.allocation.cpus;
    limits.allowedMemoryNodes = grant.memoryNodes;
    return limits;
}

/// Returns the highest limits that users can set for their own jobs.
ResourceLimits ceilingOf(const Config& config) {
    auto ceiling = config.defaults;
    if (!ceiling.killGrace)
        ceiling.killGrace = toUsec(config.jobs.killGrace);
    if (!ceiling.runTimeGrace)
        ceiling.runTimeGrace = ceiling.killGrace;
    return ceiling;
}

Error alreadyLive(const std::string& key) { return possible(Action::CreateJob, Phase::Running, key).error(); }

constexpr std::string_view kManual = "manual";
constexpr std::uint64_t kMostSlots = 8192;
constexpr std::uint64_t kUsecPerCpu = 1'000'000; // the CPU time that one CPU provides in a second, in microseconds
constexpr std::uint64_t kWeightPerSlot = 100;
constexpr std::uint64_t kMostWeight = 10'000;

Result<void> validSlots(const CreateRequest& request) {
    if (request.slots && (*request.slots < 1 || *request.slots > kMostSlots))
        return Error{ErrorCode::InvalidArgument, fmt::format("slots is {}: use 1 to 8192", *request.slots)};
    return {};
}

} // namespace

void JobCreator::create(const Caller& caller, CreateRequest request, Reply<JobSummary> reply) {
    auto leader = checkProcess(core_.context, std::move(request.leader));
    if (!leader)
        return reply(leader.error());
    // If a caller of CreateJob does not get the answer, the caller repeats the request. The caller's first request has possibly
    // created the job already, even if pinfoldd has been restarted after the first request. To find the job of the first request,
    // pinfoldd looks for a live job with the same leader.
    const auto known = core_.registry.findByLeader(leader->identity);
    if (known && (request.key.empty() || request.key == known->key().text()))
        return createAgain(caller, known, std::move(request.output), std::move(reply));
    auto job = prepare(caller, std::move(request), &*leader);
    if (!job)
        return reply(job.error());
    auto newcomer = newcomerOf(leader->identity.pid, leader->pidfd, leader->soleUid);
    if (!newcomer)
        return reply(newcomer.error());
    auto& task = (*job)->tasks[0];
    task.newcomers.push_back(std::move(*newcomer));
    task.leader = std::move(leader->pidfd);
    task.command = std::move(leader->name);
    begin(*job, std::move(reply));
}

void JobCreator::createAgain(const Caller& caller, const JobPtr& known, ForeignFd output, Reply<JobSummary> reply) const {
    // The answer shows details of the job, such as its CPUs and GPUs. Any user who can see the job's leader can send a request
    // for this process. pinfoldd must check whether the caller is allowed to get the details of the job.
    if (auto allowed = decide(caller, Action::CreateJobAgain, targetOf(known->key().text(), known.get())); !allowed)
        return reply(allowed.error());
    // At the first request of a batch system, the leader possibly does not have the job's standard error yet. When the leader
    // repeats the request, it passes the job's standard error to pinfoldd.
    if (output && !known->output && checkDescriptorsFor(caller))
        known->output = JobOutput(core_.outputs, core_.context.countsAs(known->record.uid), std::move(output));
    if (known->record.state == JobState::Creating)
        known->creators.push_back(std::move(reply));
    else
        reply(summarize(*known));
}

void JobCreator::open(const Caller& caller, CreateRequest request, Reply<JobSummary> reply, IfLive ifLive) {
    if (const auto known = core_.registry.find(request.key))
        return openAgain(known, caller, std::move(request), std::move(reply), ifLive);
    auto job = prepare(caller, std::move(request), nullptr);
    if (!job)
        return reply(job.error());
    begin(*job, std::move(reply));
}

void JobCreator::openAgain(const JobPtr& known, const Caller& caller, CreateRequest request, Reply<JobSummary> reply,
                           IfLive ifLive) {
    if (auto allowed = permitted(caller, request, nullptr); !allowed)
        return reply(allowed.error());
    if (!known->isLive()) {
        // The callback holds a shared pointer to the request, because a callback must be copyable and a request is not copyable.
        auto kept = std::make_shared<CreateRequest>(std::move(request));
        known->waiters.push_back([this, caller, kept, reply = std::move(reply), ifLive](const Result<Receipt>&) {
            open(caller, std::move(*kept), reply, ifLive);
        });
        return;
    }
    if (known->record.uid != request.owner || (ifLive == IfLive::SameRequest && !known->record.linger))
        return reply(alreadyLive(request.key));
    if (known->record.state == JobState::Creating)
        known->creators.push_back(std::move(reply));
    else
        reply(summarize(*known));
}

void JobCreator::begin(const JobPtr& job, Reply<JobSummary> reply) {
    if (!core_.registry.add(job))
        return reply(alreadyLive(job->key().text()));
    job->creators.push_back(std::move(reply));
    // pinfoldd stores the record before it asks systemd for the units. With the record, a restarted pinfoldd finds the units that
    // systemd has created for the job.
    if (auto saved = storeBeforeStart(core_, *job); !saved)
        return drop(job, saved.error());
    share_.protect();
    start(job, false);
}

void JobCreator::applySlots(CreateRequest& request) const {
    if (!request.slots)
        return;
    auto& limits = request.limits;
    auto& allocation = request.allocation;
    switch (core_.context.config.jobs.slots) {
    case Slots::None:
        return;
    case Slots::Weight: {
        // If the request does not set a CPU weight, the number of slots determines the CPU weight. If the kernel cannot enforce
        // CPU weights, the job runs without the CPU weight.
        ResourceLimits weight;
        weight.cpuWeight = std::min(*request.slots * kWeightPerSlot, kMostWeight);
        if (!limits.cpuWeight && keeper_.controllersMissing(weight).empty())
            limits.cpuWeight = weight.cpuWeight;
        return;
    }
    case Slots::Quota:
        if (!limits.cpuQuota)
            limits.cpuQuota = *request.slots * kUsecPerCpu;
        return;
    case Slots::Cpus:
        if (!allocation.cpus && !allocation.cpuList && !allocation.exclusive && !limits.allowedCpus)
            allocation.cpus = request.slots;
        return;
    }
}

Result<void> JobCreator::permitted(const Caller& caller, const CreateRequest& request, const CheckedProcess* leader) const {
    const auto& config = core_.context.config;
    const auto limits = withDefaults(request.limits, config.defaults);
    auto target = targetOf(request.key, core_.registry.find(request.key).get());
    target.ownProcesses = leader && leader->soleUid == caller.uid;
    target.processesInJob = leader && leader->inJob;
    target.userJobsAllowed = config.jobs.allowUserJobs;
    target.looserLimit = looserThan(limits, ceilingOf(config), wholeDisk);
    if (const auto key = JobKey::parse(request.key); key && !key->isForUsers())
        target.reservedKey = request.key.c_str();
    target.allocates = !request.allocation.empty();
    target.namesOwner = request.owner && *request.owner != caller.uid;
    target.shepherd = request.shepherd;
    target.speaksAsBatchSystem = saysMoreThanLabels(request.identity);
    return decide(caller, leader ? Action::CreateJob : Action::OpenJob, target);
}

Result<void> JobCreator::isFree(const JobKey& key) const {
    const auto& text = key.text();
    if (core_.registry.find(text))
        return alreadyLive(text);
    // If pinfoldd cannot read the record of a job, the job is not in the registry, but is possibly still alive.
    if (core_.context.records.exists(key))
        return Error{ErrorCode::AlreadyExists,
                     fmt::format("job '{}' has a record that pinfoldd did not read: `pinfold reconcile` says why", text)};
    if (const auto slice = core_.context.cgroups.open(slicePath(key)); slice && slice->populated())
        return Error{
            ErrorCode::AlreadyExists,
            fmt::format("a unit of this name has processes that pinfoldd does not know: `systemctl status {}` shows them",
                        key.sliceName())};
    return {};
}

void JobCreator::tookUp(const JobKey& key) {
    constexpr std::uint64_t highest = INT64_MAX; // the highest number that the history can store
    if (key.scheduler() != kManual)
        return;
    if (const auto number = parseUnsigned(key.text().substr(kManual.size() + 1)))
        lastManual_ = std::max(lastManual_, std::min(*number, highest));
}

std::uint64_t JobCreator::nextManualNumber() const {
    // nextManualNumber() must not return the number of a live job. An admin can have given the key manual.<n> to a live job. A
    // live job has no receipt in the history yet, so nextManualNumber() calls isFree() for each number.
    auto number = lastManual_ + 1;
    while (!isFree(JobKey::manual(number)))
        ++number;
    return number;
}

Result<JobPtr> JobCreator::prepare(const Caller& caller, CreateRequest request, const CheckedProcess* leader) {
    // `manual` is the number of a new key manual.<n>, or 0 if the caller has chosen the key.
    const auto manual = request.key.empty() && leader ? nextManualNumber() : 0;
    auto key = manual > 0 ? Result<JobKey>(JobKey::manual(manual)) : JobKey::parse(request.key);
    if (!key)
        return key.error();
    if (auto valid = validSlots(request); !valid)
        return valid.error();
    applySlots(request);
    if (auto valid = validate(request.limits); !valid)
        return valid.error();
    if (auto valid = compatible(request); !valid)
        return valid.error();
    if (auto valid = validate(request.identity.labels); !valid)
        return valid.error();
    makePrintable(request.identity);
    if (!leader && !request.owner)
        return Error{ErrorCode::InvalidArgument, "uid is missing: an opened job has no process yet, so name its owner"};
    if (auto allowed = permitted(caller, request, leader); !allowed)
        return allowed.error();
    if (auto free = manual > 0 ? Result<void>() : isFree(*key); !free)
        return free.error();
    const auto& config = core_.context.config;
    const auto owner = request.owner.value_or(leader ? leader->uid : caller.uid);
    const auto limits = withDefaults(request.limits, config.defaults);
    if (auto taken = node_.takesJobs(); !taken)
        return taken.error();
    if (auto enough = checkDescriptorsFor(caller); !enough)
        return enough.error();
    if (auto room = checkLiveJobs(core_, owner); !room)
        return room.error();
    auto grant = allocator_.allocate(request.allocation);
    if (!grant)
        return grant.error();
    auto enforceable = keeper_.enforceable(*key, withAllocation(limits, *grant));
    if (!enforceable)
        return enforceable.error();

    JobRecord record(newJobId(core_.context.loop.realTime()), core_.context.bootId, *key);
    record.uid = owner;
    record.created = core_.context.loop.realTime();
    record.createdBoot = core_.context.loop.bootTime();
    record.limits = std::move(*enforceable);
    record.allocation = std::move(grant->allocation);
    record.slots = caller.admin ? request.slots : std::nullopt; // a user's own job has no slots from a batch system
    setLimitVariables(record, config.jobs.ompNumThreads);
    record.identity = std::move(request.identity);
    record.reportWithin = request.reportWithin;
    if (leader) {
        record.tasks[0] = {.leader = leader->identity, .supervisor = {}, .shepherd = request.shepherd};
        record.ownersBatch = !caller.admin;
    } else {
        record.linger = request.linger.value_or(config.jobs.linger);
    }
    auto job = std::make_shared<Job>(std::move(record));
    if (request.supervisor) {
        auto supervisor = checkSupervisor(core_.context, caller, std::move(request.supervisor),
                                          leader ? std::optional(leader->identity) : std::nullopt);
        if (!supervisor)
            return supervisor.error();
        job->record.supervisor = supervisor->identity;
        job->supervisor = std::move(supervisor->pidfd);
    }
    job->output = JobOutput(core_.outputs, core_.context.countsAs(owner), std::move(request.output));
    if (manual > 0)
        lastManual_ = manual;
    return job;
}

void JobCreator::start(const JobPtr& job, bool mayBeThere) {
    ScopeStarter::Request request{
        .properties = {job->record.limits, allocator_.devicesOf(job->record)}, .processes = {}, .mayBeThere = mayBeThere};
    if (const auto task = job->record.tasks.find(0); task != job->record.tasks.end()) {
        request.processes = std::exchange(job->tasks[0].newcomers, {});
        request.properties.shepherd = task->second.shepherd;
    }
    starter_.start(job, std::move(request),
                   {.done = [this, job](const ScopeStarter::Outcome& outcome) { started(job, outcome); },
                    .overdue = [this, job](const Error& why) { overdue(job, why); },
                    .wanted = [job] { return job->lacksBatchScript() || !leaderEnded(*job); }});
}

void JobCreator::resume(const JobPtr& job, bool isLoaded) {
    if (const auto task = job->record.tasks.find(0); task != job->record.tasks.end()) {
        auto leader = newcomerOf(task->second.leader->pid, job->tasks[0].leader, {});
        if (!leader)
            return giveUp(job, leader.error());
        job->tasks[0].newcomers.push_back(std::move(*leader));
    }
    start(job, isLoaded);
}

/// When PID 1 hangs, overdue() answers the caller with an error, so that the caller does not wait for PID 1. A caller that gets
/// an error from CreateJob usually ends the leader. If jobs.on_failure allows jobs without a scope, the leader can run without a
/// scope. If PID 1 moves the leader into the scope after the caller got the error, the job becomes a normal job. overdue() stops
/// no unit of the job, because PID 1 can still move the leader into the job's scope.
void JobCreator::overdue(const JobPtr& job, const Error& why) {
    logWarning(core_.context, job->key(), "job not created yet: " + why.message, Trouble::Start);
    // After the error, the supervisor does not wait for the job's end, so pinfoldd does not watch the supervisor. If the job's
    // output is a pipe, the reader of the pipe waits until pinfoldd closes the output.
    job->output = {};
    job->supervisor.reset();
    job->record.supervisor.reset();
    core_.save(*job);
    answer(job, why);
}

void JobCreator::started(const JobPtr& job, const ScopeStarter::Outcome& outcome) {
    if (!outcome.result)
        return outcome.begun ? giveUp(job, outcome.result.error()) : drop(job, outcome.result.error());
    if (const auto task = job->tasks.find(0); task != job->tasks.end() && hasEnded(task->second.leader.get()))
        return giveUp(job, {ErrorCode::PidGone, "the process ended while its job was being created"});
    auto slice = core_.context.cgroups.open(slicePath(job->key()));
    if (!slice)
        return giveUp(job, {ErrorCode::SystemdFailed, "the job's slice has no cgroup: " + slice.error().message});
    job->slice = std::move(*slice);
    if (auto inForce = keeper_.inForce(*job); !inForce)
        return giveUp(job, inForce.error());

    core_.enter(*job, JobState::Running);
    answer(job, summarize(*job));
    home_.expect(job, 0);
    logJobStarted(core_.context, *job);
    core_.observer->jobAdded(summarize(*job));
    ender_.watch(job);
}

/// Forgets a job for which systemd has not created any unit. Another program can own a unit with the name of the job's unit, so
/// drop() changes no unit.
void JobCreator::drop(const JobPtr& job, const Error& why) {
    logWarning(core_.context, job->key(), "job not created: " + why.message, Trouble::Start);
    if (auto removed = core_.context.records.remove(job->key()); !removed)
        logWarning(core_.context, job->key(), "its record cannot be removed: " + removed.error().message, Trouble::Record);
    core_.registry.remove(*job);
    share_.protect();
    answer(job, why);
    for (const auto& reply : std::exchange(job->waiters, {}))
        reply(why);
}

void JobCreator::giveUp(const JobPtr& job, const Error& why) {
    logWarning(core_.context, job->key(), "job not created: " + why.message, Trouble::Start);
    answer(job, why);
    // If the start of a job fails, pinfoldd ends the job's processes in the same way as the processes of other jobs. pinfoldd
    // writes no receipt for a job that never ran, because the caller of CreateJob gets an error. With `pinfold-run --exec`, the
    // leader itself has called CreateJob. The leader needs the grace time to print an error message before it ends.
    job->record.neverRan = true;
    if (!job->slice)
        if (auto slice = core_.context.cgroups.open(slicePath(job->key())))
            job->slice = std::move(*slice);
    ender_.begin(job, {.cause = JobResult::Lost, .by = {}, .grace = {}});
    if (job->slice && job->slice->populated())
        ender_.watch(job);
}

void JobCreator::answer(const JobPtr& job, const Result<JobSummary>& answer) const {
    for (const auto& reply : std::exchange(job->creators, {}))
        reply(answer);
}

} // namespace pinfold
