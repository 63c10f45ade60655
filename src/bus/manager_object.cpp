// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/manager_object.hpp"

#include "bus/duplicates.hpp"

#include <csignal>
#include <utility>

namespace pinfold {
namespace {

constexpr const char* kPath = "/org/pinfold1";
constexpr std::size_t kMaxName = 1024; // keys and unit names: longer ones can't be right, and are not looked at

Result<void> checkName(const std::string& name) {
    if (name.size() > kMaxName)
        return Error{ErrorCode::InvalidArgument, "a key or unit name of " + std::to_string(name.size()) + " bytes: at most 1024 are looked at"};
    return {};
}

template <class T, class... R> Reply<T> replyWith(const Answer<R...>& answer, std::function<void(const T&)> give) {
    return [answer, give = std::move(give)](const Result<T>& result) {
        if (result)
            give(*result);
        else
            answer.fail(result.error());
    };
}

template <class Dict> Reply<Receipt> replyReceipt(const Answer<Dict>& answer) {
    return replyWith<Receipt>(answer, [answer](const Receipt& receipt) { answer.give(encodeReceipt(receipt, true)); });
}

} // namespace

ManagerObject::ManagerObject(Parts parts)
    : AdaptorInterfaces(parts.connection, sdbus::ObjectPath(kPath)), parts_(std::move(parts)) {
    registerAdaptor();
    parts_.jobs.setObserver(this);
}

ManagerObject::~ManagerObject() {
    objects_.clear();
    unregisterAdaptor();
}

/// The one guard around what a message leads to: 1.2 lets exceptions fly through libsystemd's C frames.
template <class F> void ManagerObject::guarded(const char* what, F&& body) const {
    try {
        body();
    } catch (const std::exception& error) {
        parts_.logError(std::string("unexpected in ") + what + ": " + error.what());
    }
}

template <class... R, class F> void ManagerObject::handle(sdbus::Result<R...>&& result, F body) {
    const Answer<R...> answer(std::move(result));
    const auto act = [this, answer, body = std::move(body)](const Result<Caller>& caller) {
        if (!caller)
            return answer.fail(caller.error());
        if (!caller->admin && !quota_.take(caller->uid, parts_.loop.bootTime()))
            return answer.fail({ErrorCode::Busy, "too many calls of user " + std::to_string(caller->uid) + ": wait a second"});
        try {
            body(*caller, answer);
        } catch (const std::exception& error) {
            parts_.logError(std::string("unexpected in a call: ") + error.what());
            answer.fail({ErrorCode::Internal, "unexpected error in pinfoldd, see its journal"});
        }
    };
    guarded("a call", [&] {
        const auto [sender, repeated] = bus::withCurrentMessage(
            getObject(), [](sdbus::Message& message) { return std::pair(message.getSender(), repeatedEntry(message)); });
        if (repeated)
            return answer.fail({ErrorCode::InvalidArgument, "entry '" + *repeated + "' is there more than once"});
        parts_.callers.resolve(sender, act);
    });
}

void ManagerObject::CreateJob(sdbus::Result<std::string, sdbus::ObjectPath, std::string>&& result, std::string key, sdbus::UnixFd leader,
                              Dict options) {
    auto request = std::make_shared<CreateRequest>();
    auto decoded = checkName(key);
    if (decoded)
        decoded = decodeCreateOptions(options, *request);
    request->key = std::move(key);
    request->leader = takeFd(leader);
    handle(std::move(result), [this, request, decoded](const Caller& caller, const auto& answer) {
        if (!decoded)
            return answer.fail(decoded.error());
        parts_.jobs.createJob(caller, std::move(*request), replyWith<JobSummary>(answer, [answer](const JobSummary& job) {
                                  answer.give(job.key.text(), sdbus::ObjectPath(job.key.objectPath()), job.key.scopeName(0));
                              }));
    });
}

void ManagerObject::AddTask(sdbus::Result<std::uint32_t, std::string>&& result, std::string key, sdbus::UnixFd leader, Dict options) {
    const auto decoded = decodeNoOptions(options);
    const auto fd = std::make_shared<UniqueFd>(takeFd(leader));
    handle(std::move(result), [this, key = std::move(key), fd, decoded](const Caller& caller, const auto& answer) {
        if (!decoded)
            return answer.fail(decoded.error());
        parts_.jobs.addTask(caller, key, std::move(*fd), replyWith<TaskAdded>(answer, [answer](const TaskAdded& added) {
                                answer.give(added.task, added.key.scopeName(added.task));
                            }));
    });
}

void ManagerObject::Adopt(sdbus::Result<std::uint32_t, std::string>&& result, std::string key, std::vector<sdbus::UnixFd> processes) {
    const auto fds = std::make_shared<std::vector<UniqueFd>>();
    for (const auto& process : processes)
        fds->push_back(takeFd(process));
    handle(std::move(result), [this, key = std::move(key), fds](const Caller& caller, const auto& answer) {
        parts_.jobs.adopt(caller, key, std::move(*fds), replyWith<TaskAdded>(answer, [answer](const TaskAdded& added) {
                              answer.give(added.task, added.key.scopeName(added.task));
                          }));
    });
}

void ManagerObject::EndJob(sdbus::Result<Dict>&& result, std::string key, Dict options) {
    handle(std::move(result), [this, key = std::move(key), report = decodeEndOptions(options)](const Caller& caller, const auto& answer) {
        if (!report)
            return answer.fail(report.error());
        parts_.jobs.endJob(caller, key, *report, replyReceipt(answer));
    });
}

void ManagerObject::StopJob(sdbus::Result<>&& result, std::string key, Dict options) {
    handle(std::move(result), [this, key = std::move(key), grace = decodeStopOptions(options)](const Caller& caller, const auto& answer) {
        if (!grace)
            return answer.fail(grace.error());
        parts_.jobs.stopJob(caller, key, *grace, [answer](const Result<void>& done) { done ? answer.give() : answer.fail(done.error()); });
    });
}

void ManagerObject::KillJob(sdbus::Result<>&& result, std::string key, std::int32_t signal) {
    handle(std::move(result), [this, key = std::move(key), signal](const Caller& caller, const auto& answer) {
        if (signal < 1 || signal > SIGRTMAX)
            return answer.fail({ErrorCode::InvalidArgument, "signal " + std::to_string(signal) + " is out of range: use 1 to 64"});
        parts_.jobs.killJob(caller, key, signal, [answer](const Result<void>& done) { done ? answer.give() : answer.fail(done.error()); });
    });
}

void ManagerObject::WaitJob(sdbus::Result<Dict>&& result, std::string key) {
    handle(std::move(result), [this, key = std::move(key)](const Caller& caller, const auto& answer) {
        parts_.jobs.waitJob(caller, key, replyReceipt(answer));
    });
}

void ManagerObject::ListJobs(sdbus::Result<Dicts>&& result) {
    handle(std::move(result), [this](const Caller&, const auto& answer) {
        Dicts list;
        for (const auto& job : parts_.jobs.jobs())
            list.push_back(encodeSummary(job));
        answer.give(list);
    });
}

void ManagerObject::GetJob(sdbus::Result<sdbus::ObjectPath>&& result, std::string key) {
    handle(std::move(result), [this, key = std::move(key)](const Caller&, const auto& answer) {
        const auto job = parts_.jobs.job(key);
        job ? answer.give(sdbus::ObjectPath(job->key.objectPath())) : answer.fail(job.error());
    });
}

void ManagerObject::GetJobByPID(sdbus::Result<std::string, std::uint32_t, sdbus::ObjectPath>&& result, std::uint32_t pid) {
    handle(std::move(result), [this, pid](const Caller&, const auto& answer) {
        if (pid < 2 || pid > INT32_MAX)
            return answer.fail({ErrorCode::InvalidArgument, "process " + std::to_string(pid) + " can't be part of a job"});
        const auto found = parts_.jobs.jobOfProcess(static_cast<pid_t>(pid));
        if (!found)
            return answer.fail(found.error());
        answer.give(found->first.key.text(), found->second, sdbus::ObjectPath(found->first.key.objectPath()));
    });
}

void ManagerObject::GetJobByUnit(sdbus::Result<std::string, sdbus::ObjectPath>&& result, std::string unit) {
    handle(std::move(result), [this, unit = std::move(unit)](const Caller&, const auto& answer) {
        const auto job = parts_.jobs.jobOfUnit(unit);
        job ? answer.give(job->key.text(), sdbus::ObjectPath(job->key.objectPath())) : answer.fail(job.error());
    });
}

void ManagerObject::ListProcesses(sdbus::Result<Dicts>&& result, std::string key) {
    handle(std::move(result), [this, key = std::move(key)](const Caller& caller, const auto& answer) {
        const auto processes = parts_.jobs.processes(caller, key);
        if (!processes)
            return answer.fail(processes.error());
        Dicts list;
        for (const auto& process : *processes)
            list.push_back(encodeProcess(process));
        answer.give(list);
    });
}

void ManagerObject::GetUsage(sdbus::Result<Dict>&& result, std::string key) {
    handle(std::move(result), [this, key = std::move(key)](const Caller& caller, const auto& answer) {
        const auto usage = parts_.jobs.usage(caller, key);
        usage ? answer.give(encodeUsage(*usage)) : answer.fail(usage.error());
    });
}

void ManagerObject::GetReceipt(sdbus::Result<Dict>&& result, std::string key) {
    handle(std::move(result), [this, key = std::move(key)](const Caller& caller, const auto& answer) {
        const auto receipt = parts_.jobs.receipt(caller, key);
        receipt ? answer.give(encodeReceipt(*receipt, true)) : answer.fail(receipt.error());
    });
}

void ManagerObject::ListReceipts(sdbus::Result<Dicts>&& result, Dict filter) {
    handle(std::move(result), [this, decoded = decodeReceiptFilter(filter)](const Caller& caller, const auto& answer) {
        if (!decoded)
            return answer.fail(decoded.error());
        const auto receipts = parts_.jobs.receipts(caller, *decoded);
        if (!receipts)
            return answer.fail(receipts.error());
        Dicts list;
        for (const auto& receipt : *receipts)
            list.push_back(encodeReceipt(receipt, true));
        answer.give(list);
    });
}

void ManagerObject::Reload(sdbus::Result<>&& result) {
    handle(std::move(result), [this](const Caller& caller, const auto& answer) {
        auto done = decide(caller, Verb::Reload, {});
        if (done)
            done = parts_.reload();
        done ? answer.give() : answer.fail(done.error());
    });
}

std::string ManagerObject::Version() { return PINFOLD_VERSION; }

std::uint32_t ManagerObject::JobCount() { return static_cast<std::uint32_t>(parts_.jobs.jobCount()); }

void ManagerObject::jobAdded(const JobSummary& job) {
    guarded("JobAdded", [&] {
        objects_[job.key.text()] = std::make_unique<JobObject>(parts_.connection, parts_.jobs, job);
        emitJobAdded(job.key.text(), sdbus::ObjectPath(job.key.objectPath()));
    });
}

void ManagerObject::jobStateChanged(const JobKey& key) {
    guarded("PropertiesChanged", [&] {
        if (const auto object = objects_.find(key.text()); object != objects_.end())
            object->second->stateChanged();
    });
}

void ManagerObject::taskAdded(const JobKey& key, std::uint32_t task) {
    guarded("TaskAdded", [&] { emitTaskAdded(key.text(), task, key.scopeName(task)); });
}

void ManagerObject::taskRemoved(const JobKey& key, std::uint32_t task) {
    guarded("TaskRemoved", [&] { emitTaskRemoved(key.text(), task, key.scopeName(task)); });
}

void ManagerObject::leftoversFound(const JobKey& key, std::uint32_t task, std::uint64_t count) {
    guarded("LeftoversFound", [&] { emitLeftoversFound(key.text(), task, static_cast<std::uint32_t>(count)); });
}

void ManagerObject::jobRemoved(const JobKey& key, const Receipt& receipt) {
    guarded("JobRemoved", [&] {
        emitJobRemoved(key.text(), sdbus::ObjectPath(key.objectPath()), encodeReceipt(receipt, false));
        objects_.erase(key.text());
    });
}

} // namespace pinfold
