// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/manager_object.hpp"

#include "base/bus_names.hpp"
#include "bus/page.hpp"
#include "bus_values/profile_dict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <utility>

namespace pinfold {
namespace {

// No valid key or unit name is longer than kMaxName, so pinfoldd refuses a longer name without reading it.
constexpr std::size_t kMaxName = 1024;

template <class T, class... R> Reply<T> replyWith(const Answer<R...>& answer, std::function<void(const T&)> give) {
    return [answer, give = std::move(give)](const Result<T>& result) {
        if (result)
            give(*result);
        else
            answer.fail(result.error());
    };
}

Reply<void> replyNothing(const Answer<>& answer) {
    return [answer](const Result<void>& done) { done ? answer.give() : answer.fail(done.error()); };
}

/// Makes a reply that answers with a receipt. The reply owns the pointer `wait` until pinfoldd answers the call. As long as the
/// pointer `wait` exists, the call counts as a waiting call.
template <class Dict> Reply<Receipt> replyReceipt(const Answer<Dict>& answer, std::shared_ptr<void> wait) {
    return replyWith<Receipt>(answer, [answer, wait = std::move(wait)](const Receipt& receipt) { answer.give(toDict(receipt)); });
}

} // namespace

ManagerObject::ManagerObject(Parts parts)
    : AdaptorInterfaces(parts.connection, sdbus::ObjectPath(kManagerPath)), parts_(std::move(parts)),
      gate_(
          parts_.connection, parts_.callers, parts_.clients, parts_.loop, parts_.foreign,
          [this] { return parts_.jobs.jobCount(); }, [this] { return objectBytes(); }),
      freed_(parts_.loop), objects_(parts_.connection, parts_.jobs) {
    registerAdaptor();
    parts_.jobs.setObserver(this);
}

ManagerObject::~ManagerObject() { unregisterAdaptor(); }

template <class... R, class F> void ManagerObject::handle(sdbus::Result<R...>&& result, const std::string& name, F body) {
    const Answer<R...> answer(std::move(result));
    const auto guardedCall = [this, answer](auto&& call) {
        if (!this->guarded("a call", call))
            answer.fail({ErrorCode::Internal, "unexpected error in pinfoldd: see `journalctl -u pinfoldd`"});
    };
    const auto call = gate_.call();
    auto act = [this, answer, guardedCall, call, body = std::move(body)](const Result<Caller>& caller) {
        if (!caller)
            return answer.fail(caller.error());
        // If the gate has counted the call, the charged CPU time includes the time for reading the message.
        const auto spentBefore = call.counted ? call.spentBefore : parts_.loop.cpuTime();
        if (!caller->admin && !call.counted && !parts_.clients.rate.take(caller->countsAs, parts_.loop.bootTime()))
            return answer.fail({ErrorCode::Busy, fmt::format("too many calls of user {}: wait a second", caller->uid)});
        guardedCall([&] {
            // pinfoldd first checks whether the caller is allowed to make the request, and then reads the rest of the request.
            // When pinfoldd has read the whole request, JobManager checks the rights that depend on the owner of the job.
            const auto action = actionOf(call.method);
            const auto admitted =
                action ? admit(*caller, *action) : Result<void>(Error{ErrorCode::Denied, "pinfoldd does not know this request"});
            admitted ? body(*caller, answer) : answer.fail(admitted.error());
        });
        parts_.clients.rate.charge(caller->countsAs, parts_.loop.cpuTime() - spentBefore);
    };
    guardedCall([&] {
        if (name.size() > kMaxName)
            return answer.fail(
                {ErrorCode::InvalidArgument, fmt::format("a key or unit name has {} bytes: use at most 1024", name.size())});
        parts_.callers.resolve(call.sender, std::move(act));
    });
}

template <class T, class... R>
Reply<T> ManagerObject::charged(const Caller& caller, const Answer<R...>& answer, std::function<void(const T&)> give) {
    return replyWith<T>(answer, [this, uid = caller.countsAs, give = std::move(give)](const T& result) {
        const auto spentBefore = parts_.loop.cpuTime();
        give(result);
        parts_.clients.rate.charge(uid, parts_.loop.cpuTime() - spentBefore);
    });
}

std::size_t ManagerObject::objectBytes() const {
    std::size_t bytes = 0;
    for (const auto& job : parts_.jobs.jobs())
        bytes += JobObjects::bytesOf(job);
    return bytes;
}

void ManagerObject::CreateJob(sdbus::Result<std::string, sdbus::ObjectPath, std::string>&& result, std::string key,
                              sdbus::UnixFd leader, Dict options) {
    handle(std::move(result), key,
           [this, key, leader = std::move(leader), options = std::move(options)](const Caller& caller, const auto& answer) {
               CreateRequest request;
               if (auto decoded = decodeCreateOptions(options, request); !decoded)
                   return answer.fail(decoded.error());
               request.key = key;
               request.output = parts_.foreign.behind(request.output);
               request.leader = takeFd(leader);
               parts_.jobs.createJob(caller, std::move(request), replyWith<JobSummary>(answer, [answer](const JobSummary& job) {
                                         answer.give(job.key.text(), sdbus::ObjectPath(job.key.objectPath()),
                                                     job.key.scopeName(0));
                                     }));
           });
}

void ManagerObject::OpenJob(sdbus::Result<std::string, sdbus::ObjectPath, std::string>&& result, std::string key, Dict options) {
    handle(std::move(result), key, [this, key, options = std::move(options)](const Caller& caller, const auto& answer) {
        CreateRequest request;
        if (auto decoded = decodeOpenOptions(options, request); !decoded)
            return answer.fail(decoded.error());
        request.key = key;
        parts_.jobs.openJob(caller, std::move(request), replyWith<JobSummary>(answer, [answer](const JobSummary& job) {
                                answer.give(job.key.text(), sdbus::ObjectPath(job.key.objectPath()), job.key.sliceName());
                            }));
    });
}

void ManagerObject::AddTask(sdbus::Result<std::uint32_t, std::string>&& result, std::string key, sdbus::UnixFd leader,
                            Dict options) {
    handle(std::move(result), key,
           [this, key, leader = std::move(leader), options = std::move(options)](const Caller& caller, const auto& answer) {
               TaskRequest request;
               if (auto decoded = decodeTaskOptions(options, request); !decoded)
                   return answer.fail(decoded.error());
               request.key = key;
               request.output = parts_.foreign.behind(request.output);
               request.leader = takeFd(leader);
               parts_.jobs.addTask(caller, std::move(request), replyWith<TaskAdded>(answer, [answer](const TaskAdded& added) {
                                       answer.give(added.task, added.key.scopeName(added.task));
                                   }));
           });
}

void ManagerObject::Adopt(sdbus::Result<std::uint32_t, std::string>&& result, std::string key,
                          std::vector<sdbus::UnixFd> processes) {
    handle(std::move(result), key, [this, key, processes = std::move(processes)](const Caller& caller, const auto& answer) {
        AdoptRequest request;
        for (const auto& process : processes)
            request.processes.push_back(takeFd(process));
        parts_.jobs.adopt(caller, key, std::move(request), replyWith<TaskAdded>(answer, [answer](const TaskAdded& added) {
                              answer.give(added.task, added.key.scopeName(added.task));
                          }));
    });
}

void ManagerObject::EndJob(sdbus::Result<Dict>&& result, std::string key, Dict options) {
    handle(std::move(result), key, [this, key, options = std::move(options)](const Caller& caller, const auto& answer) {
        const auto report = decodeEndOptions(options);
        if (!report)
            return answer.fail(report.error());
        auto wait = parts_.clients.enterWait(caller);
        if (!wait)
            return answer.fail(wait.error());
        parts_.jobs.endJob(caller, key, *report, replyReceipt(answer, std::move(*wait)));
    });
}

void ManagerObject::StopJob(sdbus::Result<>&& result, std::string key, Dict options) {
    handle(std::move(result), key, [this, key, options = std::move(options)](const Caller& caller, const auto& answer) {
        const auto grace = decodeStopOptions(options);
        if (!grace)
            return answer.fail(grace.error());
        parts_.jobs.stopJob(caller, key, *grace, replyNothing(answer));
    });
}

void ManagerObject::KillJob(sdbus::Result<>&& result, std::string key, std::int32_t signal) {
    handle(std::move(result), key, [this, key, signal](const Caller& caller, const auto& answer) {
        if (signal < 1 || signal > SIGRTMAX)
            return answer.fail({ErrorCode::InvalidArgument, fmt::format("signal {} is out of range: use 1 to 64", signal)});
        parts_.jobs.killJob(caller, key, signal, replyNothing(answer));
    });
}

void ManagerObject::SuspendJob(sdbus::Result<>&& result, std::string key) {
    handle(std::move(result), key,
           [this, key](const Caller& caller, const auto& answer) { parts_.jobs.suspendJob(caller, key, replyNothing(answer)); });
}

void ManagerObject::ResumeJob(sdbus::Result<>&& result, std::string key) {
    handle(std::move(result), key,
           [this, key](const Caller& caller, const auto& answer) { parts_.jobs.resumeJob(caller, key, replyNothing(answer)); });
}

void ManagerObject::SetLimits(sdbus::Result<Dict>&& result, std::string key, Dict limits, Dict options) {
    handle(std::move(result), key,
           [this, key, limits = std::move(limits), options = std::move(options)](const Caller& caller, const auto& answer) {
               auto change = readLimits(limits);
               if (!change)
                   return answer.fail(change.error());
               const auto force = decodeFlag(options, "force");
               if (!force)
                   return answer.fail(force.error());
               parts_.jobs.setLimits(
                   caller, key, std::move(*change), *force,
                   replyWith<ResourceLimits>(answer, [answer](const ResourceLimits& inForce) { answer.give(toDict(inForce)); }));
           });
}

void ManagerObject::WaitJob(sdbus::Result<Dict>&& result, std::string key) {
    handle(std::move(result), key, [this, key](const Caller& caller, const auto& answer) {
        auto wait = parts_.clients.enterWait(caller);
        if (!wait)
            return answer.fail(wait.error());
        parts_.jobs.waitJob(caller, key, replyReceipt(answer, std::move(*wait)));
    });
}

void ManagerObject::WaitTask(sdbus::Result<>&& result, std::string key, std::uint32_t task) {
    handle(std::move(result), key, [this, key, task](const Caller& caller, const auto& answer) {
        auto wait = parts_.clients.enterWait(caller);
        if (!wait)
            return answer.fail(wait.error());
        parts_.jobs.waitTask(caller, key, task, {},
                             [reply = replyNothing(answer), held = std::move(*wait)](const Result<void>& over) { reply(over); });
    });
}

void ManagerObject::ListJobs(sdbus::Result<Dicts>&& result) { listJobs(std::move(result), {}); }

void ManagerObject::ListMoreJobs(sdbus::Result<Dicts>&& result, std::string after) { listJobs(std::move(result), after); }

void ManagerObject::listJobs(sdbus::Result<Dicts>&& result, const std::string& after) {
    handle(std::move(result), after, [this, after](const Caller&, const auto& answer) {
        givePage(freed_, answer, parts_.jobs.jobsAfter(after), JobManager::kMostJobsAtOnce,
                 [](const JobSummary& job) { return toDict(infoOf(job)); });
    });
}

void ManagerObject::GetJob(sdbus::Result<sdbus::ObjectPath>&& result, std::string key) {
    handle(std::move(result), key, [this, key](const Caller&, const auto& answer) {
        const auto job = parts_.jobs.job(key);
        job ? answer.give(sdbus::ObjectPath(job->key.objectPath())) : answer.fail(job.error());
    });
}

void ManagerObject::GetJobByPID(sdbus::Result<std::string, std::uint32_t, sdbus::ObjectPath>&& result, std::uint32_t pid) {
    handle(std::move(result), {}, [this, pid](const Caller&, const auto& answer) {
        if (pid < 2 || pid > INT32_MAX)
            return answer.fail({ErrorCode::InvalidArgument, fmt::format("process {} cannot be part of a job", pid)});
        const auto found = parts_.jobs.jobOfProcess(static_cast<pid_t>(pid));
        if (!found)
            return answer.fail(found.error());
        answer.give(found->first.key.text(), found->second, sdbus::ObjectPath(found->first.key.objectPath()));
    });
}

void ManagerObject::GetJobByUnit(sdbus::Result<std::string, sdbus::ObjectPath>&& result, std::string unit) {
    handle(std::move(result), unit, [this, unit](const Caller&, const auto& answer) {
        const auto job = parts_.jobs.jobOfUnit(unit);
        job ? answer.give(job->key.text(), sdbus::ObjectPath(job->key.objectPath())) : answer.fail(job.error());
    });
}

void ManagerObject::ListProcesses(sdbus::Result<Dicts>&& result, std::string key) { listProcesses(std::move(result), key, 0); }

void ManagerObject::ListMoreProcesses(sdbus::Result<Dicts>&& result, std::string key, std::uint32_t after) {
    listProcesses(std::move(result), key, static_cast<pid_t>(std::min<std::uint32_t>(after, INT32_MAX)));
}

void ManagerObject::listProcesses(sdbus::Result<Dicts>&& result, const std::string& key, pid_t after) {
    handle(std::move(result), key, [this, key, after](const Caller& caller, const auto& answer) {
        parts_.jobs.processes(
            caller, key, after,
            charged<std::vector<JobProcess>>(caller, answer, [this, answer](const std::vector<JobProcess>& processes) {
                givePage(freed_, answer, processes, JobManager::kMostProcessesAtOnce,
                         [](const JobProcess& process) { return toDict(process); });
            }));
    });
}

void ManagerObject::GetUsage(sdbus::Result<Dict>&& result, std::string key) {
    handle(std::move(result), key, [this, key](const Caller& caller, const auto& answer) {
        const auto usage = parts_.jobs.usage(caller, key);
        usage ? answer.give(toDict(*usage)) : answer.fail(usage.error());
    });
}

void ManagerObject::GetIdentity(sdbus::Result<Dict>&& result, std::string key) {
    handle(std::move(result), key, [this, key](const Caller& caller, const auto& answer) {
        const auto identity = parts_.jobs.identity(caller, key);
        identity ? answer.give(toDict(*identity)) : answer.fail(identity.error());
    });
}

void ManagerObject::GetReceipt(sdbus::Result<Dict>&& result, std::string key) {
    handle(std::move(result), key, [this, key](const Caller& caller, const auto& answer) {
        auto query = parts_.clients.enterQuery(caller);
        if (!query)
            return answer.fail(query.error());
        parts_.jobs.receipt(caller, key, replyReceipt(answer, std::move(*query)));
    });
}

void ManagerObject::GetProfile(sdbus::Result<Dict>&& result, std::string key) {
    handle(std::move(result), key, [this, key](const Caller& caller, const auto& answer) {
        auto query = parts_.clients.enterQuery(caller);
        if (!query)
            return answer.fail(query.error());
        parts_.jobs.profile(caller, key, replyWith<Profile>(answer, [answer, held = std::move(*query)](const Profile& profile) {
                                answer.give(toDict(profile));
                            }));
    });
}

void ManagerObject::ListReceipts(sdbus::Result<Dicts>&& result, Dict filter) {
    handle(std::move(result), {}, [this, filter = std::move(filter)](const Caller& caller, const auto& answer) {
        const auto decoded = readReceiptFilter(filter);
        if (!decoded)
            return answer.fail(decoded.error());
        auto query = parts_.clients.enterQuery(caller);
        if (!query)
            return answer.fail(query.error());
        // The entry `more` says that pinfoldd has returned fewer receipts than the client wanted. An answer has the entry `more`
        // only if the client asked for more receipts than pinfoldd returns at once.
        const std::size_t most = decoded->limit > JobManager::kMostReceiptsAtOnce ? JobManager::kMostReceiptsAtOnce : SIZE_MAX;
        parts_.jobs.receipts(
            caller, *decoded,
            charged<std::vector<Receipt>>(caller, answer,
                                          [this, answer, most, held = std::move(*query)](const std::vector<Receipt>& receipts) {
                                              givePage(freed_, answer, receipts, most, toDictWithProfile);
                                          }));
    });
}

void ManagerObject::VacuumHistory(sdbus::Result<std::uint64_t, std::uint64_t>&& result, Dict options) {
    handle(std::move(result), {}, [this, options = std::move(options)](const Caller& caller, const auto& answer) {
        const auto request = readVacuumRequest(options);
        if (!request)
            return answer.fail(request.error());
        parts_.historyKeeper.vacuum(caller, *request, replyWith<Vacuumed>(answer, [answer](const Vacuumed& done) {
                                        answer.give(done.removed, done.bytes);
                                    }));
    });
}

void ManagerObject::Reload(sdbus::Result<>&& result) {
    handle(std::move(result), {}, [this](const Caller&, const auto& answer) { parts_.reload(replyNothing(answer)); });
}

void ManagerObject::Drain(sdbus::Result<>&& result, std::string reason, Dict options) {
    handle(std::move(result), {}, [this, reason, options = std::move(options)](const Caller& caller, const auto& answer) {
        if (auto decoded = decodeNoOptions(options); !decoded)
            return answer.fail(decoded.error());
        parts_.jobs.drain(caller, reason, replyNothing(answer));
    });
}

void ManagerObject::Undrain(sdbus::Result<>&& result) {
    handle(std::move(result), {},
           [this](const Caller& caller, const auto& answer) { parts_.jobs.undrain(caller, replyNothing(answer)); });
}

void ManagerObject::Reconcile(sdbus::Result<Dict>&& result, Dict options) {
    handle(std::move(result), {}, [this, options = std::move(options)](const Caller& caller, const auto& answer) {
        const auto dryRun = decodeFlag(options, "dry_run");
        if (!dryRun)
            return answer.fail(dryRun.error());
        parts_.jobs.reconcile(caller, *dryRun, replyWith<Reconciliation>(answer, [answer](const Reconciliation& found) {
                                  answer.give(toDict(found));
                              }));
    });
}

bool ManagerObject::Draining() { return parts_.jobs.draining().has_value(); }

std::string ManagerObject::DrainReason() {
    const auto drain = parts_.jobs.draining();
    return drain ? drain->reason : "";
}

std::map<std::string, sdbus::Variant> ManagerObject::DrainDetails() { return drainDetails(parts_.jobs.draining()); }

std::map<std::string, sdbus::Variant> ManagerObject::Resources() { return toDict(parts_.jobs.resources()); }

std::string ManagerObject::Version() { return PINFOLD_VERSION; }

std::uint32_t ManagerObject::JobCount() { return static_cast<std::uint32_t>(parts_.jobs.jobCount()); }

} // namespace pinfold
