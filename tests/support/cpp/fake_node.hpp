// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes a node in a temporary directory. The node has a /proc, a /sys/fs/cgroup, and a fake systemd. The fake systemd works
// correctly, except for the faults that a test asks for.
#pragma once

#include "os/cgroup.hpp"
#include "os/placeholders.hpp"
#include "os/process_killer.hpp"
#include "os/process_mover.hpp"
#include "systemd/systemd_manager.hpp"
#include "tests/support/cpp/manual_event_loop.hpp"

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pinfold::test {

/// A real child process that sleeps until the test ends the process.
class ChildProcess {
public:
    ChildProcess();
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess(const ChildProcess&) = delete;
    ~ChildProcess();
    pid_t pid() const { return pid_; }
    UniqueFd pidfd() const;
    /// Kills and reaps the process.
    void end();

private:
    pid_t pid_ = -1;
};

class FakeNode : public SystemdManager, public Placeholders {
public:
    explicit FakeNode(ManualEventLoop& loop);
    ~FakeNode() override;

    const std::filesystem::path& root() const { return root_; }
    /// Makes /proc of the fake node show a process in the given cgroup.
    void show(pid_t pid, uid_t uid = 1000, const std::string& cgroup = "/system.slice/batchd.service",
              const std::string& command = "sleep 1000");
    /// Makes the process hang in the kernel function `waitPoint`.
    void hang(pid_t pid, const std::string& waitPoint);
    /// Makes the fake /proc show that the process has got SIGKILL, but has not ended yet.
    void sendSigkill(pid_t pid);
    /// Ends the process, and changes /proc, cgroup.procs and cgroup.events in the same way as the kernel.
    void vanish(pid_t pid);
    std::string cgroupOf(pid_t pid) const;
    /// Writes a file of a cgroup in place of the kernel.
    void setFile(const std::string& cgroup, const std::string& file, const std::string& text);
    /// Reads the cgroup's file cgroup.freeze, and freezes or thaws the cgroup.
    void applyFreeze(const std::string& cgroup);
    /// Kills the processes of each cgroup to whose file cgroup.kill pinfoldd has written. Returns true if a process was killed.
    bool applyCgroupKills();
    /// Creates a process inside a cgroup, as a fork of a job does.
    void spawnInside(pid_t pid, const std::string& cgroup, uid_t uid = 1000, const std::string& command = "daemon");

    // A test sets the following members to cause faults of the fake systemd. nextStartFaults contains the outcomes of the next
    // requests to start a unit. nextStopFaults contains the outcomes of the next requests to stop a unit.
    std::deque<SystemdError> nextStartFaults; ///< the next request to start a unit fails with the first element
    std::deque<SystemdError> nextStopFaults;
    bool loseNextStartAnswer = false; ///< the next start of a unit succeeds, but the caller gets NoReply
    bool startWithoutMoving = false;  ///< the caller of a start gets "done", but no process moves into the scope
    std::map<std::string, SystemdError> propertyFaults; ///< maps a unit to the error with which SetUnitProperties fails
    bool ignoreProperties = false; ///< SetUnitProperties succeeds but does nothing, as if a controller were missing
    std::optional<SystemdError> freezeFault;
    int earlyFreezeAnswers = 0; ///< how many calls of freeze() get the answer "done" before the unit is frozen
    std::function<void()> beforeFreeze;
    unsigned systemdVersion = 252;
    /// If holdLists is true, listUnits() gets no answer before releaseLists(). The answer has the units that existed when
    /// somebody called listUnits().
    bool holdLists = false;
    void releaseLists();
    bool shutDown = false;                           ///< PID 1 has begun a shutdown, but has not told pinfoldd yet
    std::map<std::string, std::string> activeStates; ///< maps a unit to its state; a unit that is not in the map is "active"
    bool holdStarts = false;                         ///< requests to start a unit get no answer before release()
    void release();
    bool keepEmptyScopes = false; ///< PID 1 is so busy that it does not remove an empty scope
    bool hangs = false;           ///< PID 1 does nothing; requests stay in PID 1's queue, and get NoReply after 25 s
    void goOn();
    /// Forgets the callers that wait for an answer, so that the fake systemd answers nobody.
    void forgetCallers();

    // The following functions implement the interface Placeholders. The placeholders are not real processes.
    Result<pid_t> start() override;
    bool lives(pid_t placeholder) const override { return processes_.contains(placeholder); }
    void end(pid_t placeholder, std::function<void()> over) override;
    void release(pid_t placeholder) override;
    std::set<pid_t> placeholders; ///< the placeholders that are still alive

    /// Returns an object that moves the processes in the fake /proc.
    std::shared_ptr<const ProcessMover> mover();
    std::function<void(pid_t)> beforeMove; ///< the mover first calls beforeMove(), and then moves the process

    std::shared_ptr<const ProcessKiller> killer();
    std::vector<std::string> killedEach; ///< the cgroups for which killEach() was called
    std::vector<pid_t> tracers;          ///< the processes that killTracers() finds
    std::vector<uid_t> tracersKilledOf;  ///< the users for which killTracers() was called

    // The following functions implement the interface SystemdManager.
    void start(StartRequest request, SystemdDone done) override;
    void startService(ServiceRequest request, SystemdDone done) override;
    void stop(const std::string& unit, SystemdDone done) override;
    void kill(const std::string& unit, int signal, SystemdDone done) override;
    void setProperties(const std::string& unit, std::vector<UnitProperty> properties, SystemdDone done) override;
    void freeze(const std::string& unit, SystemdDone done) override;
    void thaw(const std::string& unit, SystemdDone done) override;
    void askShutdown(std::function<void()> done) override;
    unsigned version() const override { return systemdVersion; }
    void resetFailed(const std::string& unit, SystemdDone done) override;
    void listUnits(std::vector<std::string> patterns,
                   std::function<void(std::variant<std::vector<UnitStatus>, SystemdError>)> done) override;

    std::set<std::string> units;
    std::vector<std::pair<std::string, std::vector<UnitProperty>>> changes; ///< the calls of SetUnitProperties
    std::set<std::string> frozen;
    std::vector<std::pair<std::string, int>> signals; ///< the calls of KillUnit
    std::vector<std::string> stops;
    std::vector<StartRequest> starts;
    std::vector<ServiceRequest> services;

private:
    struct Mover;
    struct Killer;
    void moveTo(pid_t pid, const std::string& cgroup);
    void answer(SystemdDone done, SystemdOutcome outcome);
    void makeCgroup(const std::string& path);
    void applyProperties(const std::string& unit, const std::vector<UnitProperty>& properties);
    void updateCgroup(const std::string& path);
    bool removeIfEmpty(const std::string& scope);
    std::string pathOf(const std::string& unit) const;
    bool isFrozen(const std::string& cgroup) const;
    std::filesystem::path cgroupDir(const std::string& path) const { return root_ / "sys/fs/cgroup" / path.substr(1); }

    ManualEventLoop& loop_;
    std::filesystem::path root_;
    std::map<pid_t, std::string> processes_; ///< maps a pid to its cgroup
    std::vector<std::pair<SystemdDone, SystemdOutcome>> held_;
    std::vector<std::function<void()>> heldLists_;
    std::vector<StartRequest> queued_; ///< the starts that wait in the queue while PID 1 hangs
    std::list<EventHandle> timeouts_;
    std::list<EventHandle> answers_;
};

} // namespace pinfold::test
