// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/manager_client.hpp"

#include "base/bus_names.hpp"
#include "base/error_code.hpp"
#include "bus_client/converted.hpp"
#include "bus_values/job_dict.hpp"
#include "bus_values/profile_dict.hpp"
#include "bus_values/receipt_dict.hpp"
#include "bus_values/request_dict.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <tuple>

namespace pinfold {
namespace {

constexpr Microseconds kTimeout = 30s;
constexpr Microseconds kVacuumTimeout = 1h;

} // namespace

struct ManagerClient::Impl {
    std::unique_ptr<sdbus::IConnection> connection;
    std::unique_ptr<sdbus::IProxy> manager;
};

namespace {

template <class... Out, class... Args>
void invoke(sdbus::IProxy& manager, const char* method, Microseconds timeout, std::tuple<Out&...> results, const Args&... args) {
    std::apply(
        [&](Out&... out) {
            manager.callMethod(method)
                .onInterface(kManagerInterface)
                .withTimeout(toUsec(timeout))
                .withArguments(args...)
                .storeResultsTo(out...);
        },
        results);
}

Dict allProperties(sdbus::IProxy& object, const char* interface) {
    Dict properties;
    object.callMethod("GetAll")
        .onInterface("org.freedesktop.DBus.Properties")
        .withTimeout(toUsec(kTimeout))
        .withArguments(std::string(interface))
        .storeResultsTo(properties);
    return properties;
}

template <class T, class... Args> T ask(sdbus::IProxy& manager, const char* method, const Args&... args) {
    T result;
    invoke(manager, method, kTimeout, std::tie(result), args...);
    return result;
}

/// During an upgrade of the packages, a new client program sometimes calls an old pinfoldd. If pinfoldd refuses the call
/// ask(true) because the call has an entry that pinfoldd does not know, evenIfOlder() calls ask(false). ask(false) leaves out
/// entries that a job does not need.
template <class T, class F> Result<T> evenIfOlder(F&& ask) {
    auto answer = converted([&]() -> T { return ask(true); });
    if (!answer && saysUnknownEntry(answer.error()))
        answer = converted([&]() -> T { return ask(false); });
    return answer;
}

/// Repeats the call while pinfoldd answers Busy. Busy means that the user has made too many calls.
template <class F> std::vector<Dict> patiently(F&& ask) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kTimeout);
    while (true) {
        try {
            return ask();
        } catch (const sdbus::Error& error) {
            if (fromBusError(error).code != ErrorCode::Busy || std::chrono::steady_clock::now() >= deadline)
                throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

/// Reads a list that pinfoldd sends in several pages. allPages() calls `ask` once for each page. The argument of `ask` contains
/// the entries of all earlier pages. pinfoldd limits the CPU time for the calls of each user. If the user's CPU time is used
/// up, pinfoldd answers Busy, and allPages() repeats the call after a pause.
template <class T, class Ask, class Decode> std::vector<T> allPages(Ask&& ask, Decode&& decode) {
    std::vector<T> all;
    bool more = true;
    while (more) {
        const auto page = all.empty() ? ask(all) : patiently([&] { return ask(all); });
        for (const auto& dict : page)
            all.push_back(decode(dict));
        more = !page.empty() && page.back().contains("more");
    }
    return all;
}

/// Makes a call to the object of a job. pinfoldd keeps an object on the bus for each job, from the job's first process to the
/// job's end. If the job has no object, askJob() returns the error `gone`.
template <class F> auto askJob(F&& call, const Error& gone) {
    try {
        return call();
    } catch (const sdbus::Error& error) {
        if (dbus::errorName(error) != "org.freedesktop.DBus.Error.UnknownObject")
            throw;
        throw dbus::makeError(std::string(kDbusErrorPrefix) + std::string(errorRow(gone.code).dbusName), gone.message);
    }
}

std::string beginsOrEnds(const std::string& key) {
    return fmt::format("job {} is only being created, or has just ended; try again", key);
}

template <class T = Dict>
T jobProperty(sdbus::IConnection& connection, sdbus::IProxy& manager, const std::string& key, const char* property) {
    const auto path = ask<sdbus::ObjectPath>(manager, "GetJob", key);
    return askJob(
        [&] {
            return dbus::makeProxy(connection, kBusName, path)
                ->getProperty(property)
                .onInterface(kJobInterface)
                .template get<T>();
        },
        {ErrorCode::Busy, beginsOrEnds(key)});
}

} // namespace

ManagerClient::ManagerClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ManagerClient::ManagerClient(ManagerClient&&) noexcept = default;
ManagerClient& ManagerClient::operator=(ManagerClient&&) noexcept = default;
ManagerClient::~ManagerClient() = default;

Result<ManagerClient> ManagerClient::connect() { return connectTo(kBusName); }

Result<ManagerClient> ManagerClient::connectTo(const std::string& name) {
    auto impl = connected<Impl>(name);
    if (!impl)
        return impl.error();
    return ManagerClient(std::move(*impl));
}

Result<std::string> ManagerClient::version() const {
    return converted([this] { return impl_->manager->getProperty("Version").onInterface(kManagerInterface).get<std::string>(); });
}

Result<std::optional<Drain>> ManagerClient::draining() const {
    // pinfold reads all properties with a single call. If pinfold read each property with a separate call, the result could mix
    // the properties of two drains.
    return converted([this] { return drainFrom(allProperties(*impl_->manager, kManagerInterface)); });
}

Result<NodeResources> ManagerClient::resources() const {
    return converted([this] { return resourcesFrom(allProperties(*impl_->manager, kManagerInterface)); });
}

Result<void> ManagerClient::drain(const std::string& reason) const {
    return converted([&] { invoke(*impl_->manager, "Drain", kTimeout, std::tie(), reason, Dict()); });
}

Result<void> ManagerClient::undrain() const {
    return converted([&] { invoke(*impl_->manager, "Undrain", kTimeout, std::tie()); });
}

Result<Reconciliation> ManagerClient::reconcile(bool dryRun) const {
    return converted([&] {
        Dict options;
        if (dryRun)
            put(options, "dry_run", true);
        return reconciliationFrom(ask<Dict>(*impl_->manager, "Reconcile", options));
    });
}

Result<void> ManagerClient::reload() const {
    return converted([&] { invoke(*impl_->manager, "Reload", kTimeout, std::tie()); });
}

Result<std::vector<JobInfo>> ManagerClient::listJobs(Microseconds timeout) const {
    return converted([this, timeout] {
        const auto page = [this, timeout](const std::vector<JobInfo>& before) {
            std::vector<Dict> dicts;
            if (before.empty())
                invoke(*impl_->manager, "ListJobs", timeout, std::tie(dicts));
            else
                invoke(*impl_->manager, "ListMoreJobs", timeout, std::tie(dicts), before.back().key);
            return dicts;
        };
        return allPages<JobInfo>(page, jobFrom);
    });
}

Result<JobInfo> ManagerClient::job(const std::string& key) const {
    auto jobs = listJobs();
    if (!jobs)
        return jobs.error();
    for (auto& job : *jobs)
        if (job.key == key)
            return std::move(job);
    // If the job is not live, GetJob fails, and the client returns pinfoldd's own error message about the job.
    auto path = converted([&] { return ask<sdbus::ObjectPath>(*impl_->manager, "GetJob", key); });
    return path ? Error{ErrorCode::NoSuchJob, beginsOrEnds(key)} : path.error();
}

Result<std::pair<std::string, std::uint32_t>> ManagerClient::jobOfProcess(pid_t pid) const {
    return converted([&] {
        std::string key;
        std::uint32_t task = 0;
        sdbus::ObjectPath path;
        invoke(*impl_->manager, "GetJobByPID", kTimeout, std::tie(key, task, path), static_cast<std::uint32_t>(pid));
        return std::pair(key, task);
    });
}

Result<ResourceLimits> ManagerClient::limits(const std::string& key) const {
    return converted([&] { return limitsFrom(jobProperty(*impl_->connection, *impl_->manager, key, "Limits")); });
}

Result<std::vector<std::string>> ManagerClient::limitsNotEnforced(const std::string& key) const {
    return converted(
        [&] { return jobProperty<std::vector<std::string>>(*impl_->connection, *impl_->manager, key, "LimitsNotEnforced"); });
}

Result<Allocation> ManagerClient::allocation(const std::string& key) const {
    return converted([&] { return allocationFrom(jobProperty(*impl_->connection, *impl_->manager, key, "Allocation")); });
}

Result<Holding> ManagerClient::holding(const JobInfo& job) const {
    return converted([&] {
        const auto object = dbus::makeProxy(*impl_->connection, kBusName, sdbus::ObjectPath(job.object));
        const auto gone = job.state == ShownState::Creating ? ErrorCode::Busy : ErrorCode::NoSuchJob;
        const auto properties = askJob([&] { return allProperties(*object, kJobInterface); }, {gone, beginsOrEnds(job.key)});
        // A pinfoldd that is older than the client lacks some of the properties. If pinfoldd does not send a property, the
        // variable for the property keeps its default value.
        Dict limits;
        Dict allocation;
        std::vector<std::string> notEnforced;
        std::uint64_t slots = 0;
        take(properties, "Limits", limits);
        take(properties, "Allocation", allocation);
        take(properties, "LimitsNotEnforced", notEnforced);
        take(properties, "Slots", slots);
        return Holding{limitsFrom(limits), std::move(notEnforced), allocationFrom(allocation),
                       slots > 0 ? std::optional(slots) : std::nullopt};
    });
}

Result<Usage> ManagerClient::usage(const std::string& key) const {
    return converted([&] { return usageFrom(ask<Dict>(*impl_->manager, "GetUsage", key)); });
}

Result<JobIdentity> ManagerClient::identity(const std::string& key) const {
    return converted([&] { return identityFrom(ask<Dict>(*impl_->manager, "GetIdentity", key)); });
}

Result<std::vector<JobProcess>> ManagerClient::processes(const std::string& key) const {
    return converted([&] {
        using Dicts = std::vector<Dict>;
        const auto page = [&](const std::vector<JobProcess>& before) {
            return before.empty() ? ask<Dicts>(*impl_->manager, "ListProcesses", key)
                                  : ask<Dicts>(*impl_->manager, "ListMoreProcesses", key, before.back().pid);
        };
        return allPages<JobProcess>(page, processFrom);
    });
}

Result<Receipt> ManagerClient::receipt(const std::string& key) const {
    return converted([&] { return receiptFrom(ask<Dict>(*impl_->manager, "GetReceipt", key)); });
}

Result<Profile> ManagerClient::profile(const std::string& key, Microseconds timeout) const {
    return converted([&] {
        Dict profile;
        invoke(*impl_->manager, "GetProfile", timeout, std::tie(profile), key);
        return profileFrom(profile);
    });
}

Result<std::vector<Receipt>> ManagerClient::receipts(const ReceiptFilter& filter) const {
    return converted([&] {
        const auto page = [&](const std::vector<Receipt>& newer) {
            auto rest = filter;
            rest.limit -= static_cast<std::uint32_t>(newer.size());
            if (!newer.empty() && filter.after) {
                rest.after = newer.back().sequence;
                rest.epoch = newer.back().epoch;
            } else if (!newer.empty()) {
                rest.before = newer.back().id;
            }
            return ask<std::vector<Dict>>(*impl_->manager, "ListReceipts", toDict(rest));
        };
        return allPages<Receipt>(page, receiptFrom);
    });
}

Result<Vacuumed> ManagerClient::vacuum(const VacuumRequest& request) const {
    return converted([&] {
        Vacuumed done;
        invoke(*impl_->manager, "VacuumHistory", kVacuumTimeout, std::tie(done.removed, done.bytes), toDict(request));
        return done;
    });
}

Result<void> ManagerClient::stop(const std::string& key, std::optional<Microseconds> grace) const {
    Dict options;
    put(options, "grace", grace);
    return converted([&] { invoke(*impl_->manager, "StopJob", kTimeout, std::tie(), key, options); });
}

Result<void> ManagerClient::suspend(const std::string& key) const {
    return converted([&] { invoke(*impl_->manager, "SuspendJob", kTimeout, std::tie(), key); });
}

Result<void> ManagerClient::resume(const std::string& key) const {
    return converted([&] { invoke(*impl_->manager, "ResumeJob", kTimeout, std::tie(), key); });
}

Result<ResourceLimits> ManagerClient::setLimits(const std::string& key, const ResourceLimits& change, bool force) const {
    Dict options;
    if (force)
        put(options, "force", true);
    return converted([&] { return limitsFrom(ask<Dict>(*impl_->manager, "SetLimits", key, toDict(change), options)); });
}

Result<void> ManagerClient::kill(const std::string& key, int signal) const {
    return converted([&] { invoke(*impl_->manager, "KillJob", kTimeout, std::tie(), key, static_cast<std::int32_t>(signal)); });
}

Result<std::string> ManagerClient::open(const std::string& key, const JobOpening& opening) const {
    return evenIfOlder<std::string>([&](bool withAll) {
        auto options = toDict(opening.limits);
        options.merge(toDict(opening.allocation));
        if (withAll)
            options.merge(toDict(opening.identity));
        put(options, "uid", opening.uid);
        put(options, "slots", opening.slots);
        put(options, "linger", opening.linger);
        put(options, "report_within", opening.reportWithin);
        std::string opened;
        sdbus::ObjectPath path;
        std::string slice;
        invoke(*impl_->manager, "OpenJob", kTimeout, std::tie(opened, path, slice), key, options);
        return slice;
    });
}

Result<Receipt> ManagerClient::end(const std::string& key, const ExitState& exit, Microseconds timeout) const {
    return converted([&] {
        Dict dict;
        invoke(*impl_->manager, "EndJob", timeout, std::tie(dict), key, toDict(exit));
        return receiptFrom(dict);
    });
}

Result<std::pair<std::uint32_t, std::string>> ManagerClient::addBatchScript(const std::string& key, const UniqueFd& leader,
                                                                            std::optional<int> output) const {
    return evenIfOlder<std::pair<std::uint32_t, std::string>>([&](bool withAll) {
        Dict options{{"batch", sdbus::Variant(true)}};
        if (output && withAll)
            options["output"] = sdbus::Variant(sdbus::UnixFd(*output));
        std::uint32_t task = 0;
        std::string unit;
        invoke(*impl_->manager, "AddTask", kTimeout, std::tie(task, unit), key, sdbus::UnixFd(leader.get()), options);
        return std::pair(task, unit);
    });
}

Result<std::pair<std::uint32_t, std::string>> ManagerClient::adopt(const std::string& key,
                                                                   const std::vector<UniqueFd>& processes) const {
    return converted([&] {
        std::vector<sdbus::UnixFd> fds;
        for (const auto& process : processes)
            fds.emplace_back(process.get());
        std::uint32_t task = 0;
        std::string unit;
        invoke(*impl_->manager, "Adopt", kTimeout, std::tie(task, unit), key, fds);
        return std::pair(task, unit);
    });
}

Result<Receipt> ManagerClient::wait(const std::string& key, Microseconds timeout) const {
    return converted([&] {
        Dict dict;
        invoke(*impl_->manager, "WaitJob", timeout, std::tie(dict), key);
        return receiptFrom(dict);
    });
}

} // namespace pinfold
