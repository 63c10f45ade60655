// SPDX-License-Identifier: LGPL-2.1-or-later
// Implements the object /org/pinfold1 on the bus. ManagerObject decodes the requests, asks JobManager, and encodes the answers.
// ManagerObject decides only one thing: whether a user calls too often.
#pragma once

#include "bus/answer.hpp"
#include "bus/caller.hpp"
#include "bus/gate.hpp"
#include "bus/job_objects.hpp"
#include "core/history/history_keeper.hpp"
#include "core/job_manager.hpp"
#include "dbus/org.pinfold1.Manager_adaptor.hpp"
#include "os/event_loop.hpp"
#include "os/freed_memory.hpp"
#include "systemd/sdbus_compat.hpp"

#include <fmt/core.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace pinfold {

class ManagerObject
    : public sdbus::AdaptorInterfaces<org::pinfold1::Manager_adaptor, sdbus::ObjectManager_adaptor, sdbus::Properties_adaptor>,
      public JobObserver {
public:
    struct Parts {
        sdbus::IConnection& connection;
        EventLoop& loop;
        JobManager& jobs;
        HistoryKeeper& historyKeeper;
        CallerResolver& callers;
        CallerLimits& clients;
        ForeignDescriptors& foreign;
        std::function<void(Reply<void>)> reload;
        std::function<void(const std::string&)> logError;
        /// ManagerObject calls onChange when the number of jobs changes, or when the node begins or ceases to take jobs.
        std::function<void()> onChange;
    };
    explicit ManagerObject(Parts parts);
    ~ManagerObject() override;
    ManagerObject(const ManagerObject&) = delete;
    ManagerObject& operator=(const ManagerObject&) = delete;

    void jobAdded(const JobSummary& job) override;
    void jobStateChanged(const JobKey& key) override;
    void outOfMemory(const JobKey& key, const OomVerdict& verdict) override;
    void limitNear(const JobKey& key, const std::string& limit) override;
    void limitsChanged(const JobKey& key) override;
    void taskAdded(const JobKey& key, std::uint32_t task) override;
    void taskRemoved(const JobKey& key, std::uint32_t task) override;
    void leftoversFound(const JobKey& key, std::uint32_t task, std::uint64_t count) override;
    void unkillable(const JobKey& key, std::uint64_t count) override;
    void jobRemoved(const JobKey& key, const Receipt& receipt) override;
    void receiptAmended(const Receipt& receipt) override;
    void receiptsStored(const StoredReceipts& stored) override;
    void drainChanged() override;

private:
    using Dict = std::map<std::string, sdbus::Variant>;
    using Dicts = std::vector<Dict>;

    void CreateJob(sdbus::Result<std::string, sdbus::ObjectPath, std::string>&& result, std::string key, sdbus::UnixFd leader,
                   Dict options) override;
    void OpenJob(sdbus::Result<std::string, sdbus::ObjectPath, std::string>&& result, std::string key, Dict options) override;
    void AddTask(sdbus::Result<std::uint32_t, std::string>&& result, std::string key, sdbus::UnixFd leader,
                 Dict options) override;
    void Adopt(sdbus::Result<std::uint32_t, std::string>&& result, std::string key,
               std::vector<sdbus::UnixFd> processes) override;
    void EndJob(sdbus::Result<Dict>&& result, std::string key, Dict options) override;
    void StopJob(sdbus::Result<>&& result, std::string key, Dict options) override;
    void KillJob(sdbus::Result<>&& result, std::string key, std::int32_t signal) override;
    void SuspendJob(sdbus::Result<>&& result, std::string key) override;
    void ResumeJob(sdbus::Result<>&& result, std::string key) override;
    void SetLimits(sdbus::Result<Dict>&& result, std::string key, Dict limits, Dict options) override;
    void WaitJob(sdbus::Result<Dict>&& result, std::string key) override;
    void WaitTask(sdbus::Result<>&& result, std::string key, std::uint32_t task) override;
    void ListJobs(sdbus::Result<Dicts>&& result) override;
    void ListMoreJobs(sdbus::Result<Dicts>&& result, std::string after) override;
    void GetJob(sdbus::Result<sdbus::ObjectPath>&& result, std::string key) override;
    void GetJobByPID(sdbus::Result<std::string, std::uint32_t, sdbus::ObjectPath>&& result, std::uint32_t pid) override;
    void GetJobByUnit(sdbus::Result<std::string, sdbus::ObjectPath>&& result, std::string unit) override;
    void ListProcesses(sdbus::Result<Dicts>&& result, std::string key) override;
    void ListMoreProcesses(sdbus::Result<Dicts>&& result, std::string key, std::uint32_t after) override;
    void GetUsage(sdbus::Result<Dict>&& result, std::string key) override;
    void GetIdentity(sdbus::Result<Dict>&& result, std::string key) override;
    void GetReceipt(sdbus::Result<Dict>&& result, std::string key) override;
    void GetProfile(sdbus::Result<Dict>&& result, std::string key) override;
    void ListReceipts(sdbus::Result<Dicts>&& result, Dict filter) override;
    void VacuumHistory(sdbus::Result<std::uint64_t, std::uint64_t>&& result, Dict options) override;
    void Drain(sdbus::Result<>&& result, std::string reason, Dict options) override;
    void Undrain(sdbus::Result<>&& result) override;
    void Reconcile(sdbus::Result<Dict>&& result, Dict options) override;
    void Reload(sdbus::Result<>&& result) override;
    std::string Version() override;
    std::uint32_t JobCount() override;
    bool Draining() override;
    std::string DrainReason() override;
    Dict DrainDetails() override;
    Dict Resources() override;

    /// Finds out the caller of a request, and then calls body(caller, answer). `name` is the key or the unit name in the
    /// request.
    template <class... R, class F> void handle(sdbus::Result<R...>&& result, const std::string& name, F body);
    /// Makes a reply that calls give(). pinfoldd charges the caller for the CPU time of give().
    template <class T, class... R>
    Reply<T> charged(const Caller& caller, const Answer<R...>& answer, std::function<void(const T&)> give);
    void listJobs(sdbus::Result<Dicts>&& result, const std::string& after);
    void listProcesses(sdbus::Result<Dicts>&& result, const std::string& key, pid_t after);
    /// Returns an upper bound for the size of the answer to GetManagedObjects, in bytes.
    std::size_t objectBytes() const;
    /// Calls `body` and catches its exceptions. Returns false if `body` has thrown. All code that handles a message must run
    /// inside guarded(). sdbus-c++ 1.2 would let an exception pass through the C code of libsystemd.
    template <class F> bool guarded(const char* what, F&& body) const {
        try {
            body();
            return true;
        } catch (const sdbus::Error& error) {
            // A lost connection to the bus is not a bug of pinfoldd, so pinfoldd logs no unexpected error. If pinfoldd has lost
            // the bus, the event loop notices the loss, and pinfoldd starts again.
            if (const auto name = dbus::errorName(error);
                name != "org.freedesktop.DBus.Error.Disconnected" && name != "System.Error.ENOTCONN")
                logUnexpected(what, error);
        } catch (const std::exception& error) {
            logUnexpected(what, error);
        }
        return false;
    }
    void logUnexpected(const char* what, const std::exception& error) const {
        parts_.logError(fmt::format("unexpected error in {}: {}", what, error.what()));
    }

    Parts parts_;
    Gate gate_;
    FreedMemory freed_;
    JobObjects objects_;
};

} // namespace pinfold
