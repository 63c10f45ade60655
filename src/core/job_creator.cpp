// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/job_creator.hpp"

#include "core/events.hpp"
#include "core/job_id.hpp"
#include "core/unkillable.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace pinfold {
namespace {

/// CPUs are either given or limited.
Result<void> compatible(const CreateRequest& request) {
    const auto& allocation = request.allocation;
    if ((allocation.cpus || allocation.cpuList || allocation.exclusive) && request.limits.allowedCpus)
        return Error{ErrorCode::InvalidArgument, "allowed_cpus can't be asked for together with cpus, cpu_list or exclusive"};
    return {};
}

ResourceLimits withAllocation(ResourceLimits limits, const Allocator::Grant& grant) {
    if (grant.allocation.cpus.empty())
        return limits;
    limits.allowedCpus = grant.allocation.cpus;
    limits.allowedMemoryNodes = grant.memoryNodes;
    return limits;
}

/// What users may have at most for jobs of their own.
ResourceLimits ceilingOf(const Config& config) {
    auto ceiling = config.defaults;
    if (!ceiling.killGrace)
        ceiling.killGrace = config.jobs.killGrace;
    if (!ceiling.runTimeGrace)
        ceiling.runTimeGrace = ceiling.killGrace;
    return ceiling;
}

} // namespace

void JobCreator::create(const Caller& caller, CreateRequest request, Reply<JobSummary> reply) {
    auto leader = checkProcess(core_.context, std::move(request.leader));
    if (!leader)
        return reply(leader.error());
    // A caller whose answer was lost asks again: with pinfoldd killed in between, this is how it finds its job.
    if (auto known = sameRequestAgain(request.key, *leader); !known)
        return reply(known.error());
    else if (*known) {
        if ((*known)->record.state == JobState::Creating)
            (*known)->creators.push_back(std::move(reply));
        else
            reply(summarize(**known));
        return;
    }
    auto job = prepare(caller, std::move(request), *leader);
    if (!job)
        return reply(job.error());
    (*job)->tasks[0].leader = std::move(leader->pidfd);
    (*job)->creators.push_back(std::move(reply));
    core_.registry.add(*job);
    core_.save(**job); // before systemd hears of it, so that a restart finds whatever comes of the call
    share_.protect();
    start(*job);
}

Result<JobPtr> JobCreator::sameRequestAgain(const std::string& key, const CheckedProcess& leader) const {
    const auto job = core_.registry.findByLeader(leader.identity);
    if (job && (key.empty() || key == job->key().text()))
        return job;
    if (key.empty() || !core_.registry.find(key))
        return JobPtr{};
    return Error{ErrorCode::AlreadyExists, "job '" + key + "' is live already: `pinfold status " + key + "` shows it"};
}

Result<JobPtr> JobCreator::prepare(const Caller& caller, CreateRequest request, const CheckedProcess& leader) {
    auto key = request.key.empty() ? Result<JobKey>(JobKey::manual(lastManual_ + 1)) : JobKey::parse(request.key);
    if (!key)
        return key.error();
    if (auto valid = validate(request.limits); !valid)
        return valid.error();

    const auto& config = core_.context.config;
    const auto owner = request.owner.value_or(leader.uid);
    if (auto valid = compatible(request); !valid)
        return valid.error();
    const auto limits = withDefaults(request.limits, config.defaults);
    Target target;
    target.owner = owner;
    target.ownProcesses = leader.soleUid == caller.uid;
    target.processesInJob = leader.inJob.has_value();
    target.userJobsAllowed = config.jobs.allowUserJobs;
    target.looserLimit = looserThan(limits, ceilingOf(config));
    target.allocates = !request.allocation.empty();
    target.namesOwner = request.owner && *request.owner != caller.uid;
    if (auto allowed = decide(caller, Verb::Create, target); !allowed)
        return allowed.error();
    if (const auto reason = drainReason(core_))
        return Error{ErrorCode::Draining, "this node takes no jobs for now: " + *reason + " (unkillable.action = \"drain\")"};
    if (core_.registry.countOf(owner) >= config.jobs.maxPerUser)
        return Error{ErrorCode::Busy, "user " + std::to_string(owner) + " has " + std::to_string(config.jobs.maxPerUser) +
                                          " live jobs already (jobs.max_per_user)"};
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
    record.tasks[0] = {leader.identity};
    auto job = std::make_shared<Job>(std::move(record));
    if (request.supervisor) {
        auto supervisor = checkProcess(core_.context, std::move(request.supervisor));
        if (!supervisor)
            return supervisor.error();
        if (!caller.admin && supervisor->soleUid != caller.uid)
            return Error{ErrorCode::Denied, "the supervisor must be a process of the caller's own"};
        job->record.supervisor = supervisor->identity;
        job->supervisor = std::move(supervisor->pidfd);
    }
    job->output = JobOutput(std::move(request.output));
    if (request.key.empty())
        ++lastManual_;
    return job;
}

void JobCreator::start(const JobPtr& job) {
    const auto& leader = *job->record.tasks.at(0).leader;
    starter_.start({job->key(), 0, {job->record.limits, allocator_.devicesOf(job->record)}, {leader.pid}},
                   [this, job](const Result<void>& outcome) { started(job, outcome); });
}

void JobCreator::resume(const JobPtr& job) { start(job); }

void JobCreator::started(const JobPtr& job, const Result<void>& outcome) {
    if (!outcome)
        return giveUp(job, outcome.error());
    if (hasEnded(job->tasks[0].leader.get()))
        return giveUp(job, {ErrorCode::PidGone, "the process ended while its job was being created"});
    auto slice = core_.context.cgroups.open(slicePath(job->key()));
    if (!slice)
        return giveUp(job, {ErrorCode::SystemdFailed, "the job's slice has no cgroup: " + slice.error().message});
    job->slice = std::move(*slice);
    if (auto inForce = keeper_.inForce(*job); !inForce)
        return giveUp(job, inForce.error());

    core_.enter(*job, JobState::Running);
    answer(job, summarize(*job));
    home_.expect(job);
    logJobStarted(core_.context, *job);
    core_.observer->jobAdded(summarize(*job));
    ender_.watch(job);
}

void JobCreator::giveUp(const JobPtr& job, const Error& why) {
    logWarning(core_.context, job->key(), "job not created: " + why.message, Trouble::Start);
    answer(job, why);
    // Whatever was started goes the way that a job's end goes, but there was no job: no receipt. The grace lets a caller that
    // is the leader itself (--exec) say its own last word.
    job->neverRan = true;
    core_.enter(*job, JobState::Running);
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

void JobCreator::addTask(const JobPtr& job, std::vector<CheckedProcess> processes, bool firstIsLeader,
                         const Reply<TaskAdded>& reply) {
    if (job->record.state != JobState::Running)
        return reply(Error{ErrorCode::JobEnding, "job '" + job->key().text() + "' is " +
                                                     std::string(toString(job->record.state)) + " and takes no further task"});
    if (job->record.suspendedSince) // 257 starts nothing in what is frozen
        return reply(Error{ErrorCode::Busy, "job '" + job->key().text() + "' is suspended: resume it first"});
    const auto number = job->record.nextTask++;
    job->record.tasks[number] = {};
    auto& task = job->tasks[number];
    if (firstIsLeader) {
        job->record.tasks[number].leader = processes.front().identity;
        task.leader = std::move(processes.front().pidfd);
    }
    core_.save(*job);
    std::vector<pid_t> pids;
    for (const auto& process : processes)
        pids.push_back(process.identity.pid);
    starter_.start({job->key(), number, {}, std::move(pids)}, [this, job, number, reply](const Result<void>& outcome) {
        if (!outcome) {
            job->tasks.erase(number);
            job->record.tasks.erase(number);
            core_.save(*job);
            return reply(outcome.error());
        }
        reply(TaskAdded{job->key(), number});
        core_.observer->taskAdded(job->key(), number);
        taskEnder_.watch(job, number);
    });
}

} // namespace pinfold
