// SPDX-License-Identifier: LGPL-2.1-or-later
// A node in a temporary directory: /proc, /sys/fs/cgroup, and a systemd that behaves, with faults on request.
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

/// A real child process that does nothing until it is ended.
class ChildProcess {
public:
    ChildProcess();
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess(const ChildProcess&) = delete;
    ~ChildProcess();
    pid_t pid() const { return pid_; }
    UniqueFd pidfd() const;
    /// Kills and reaps it.
    void end();

private:
    pid_t pid_ = -1;
};

class FakeNode : public SystemdManager, public Placeholders {
public:
    explicit FakeNode(ManualEventLoop& loop);
    ~FakeNode() override;

    const std::filesystem::path& root() const { return root_; }
    /// Lets /proc of the fake node show a process, in the given cgroup.
    void show(pid_t pid, uid_t uid = 1000, const std::string& cgroup = "/system.slice/batchd.service",
              const std::string& command = "sleep 1000");
    /// It hangs in this function of the kernel.
    void hang(pid_t pid, const std::string& waitPoint);
    /// The process ends: /proc, cgroup.procs and cgroup.events follow, as the kernel does it.
    void vanish(pid_t pid);
    std::string cgroupOf(pid_t pid) const;
    /// Writes a file of a cgroup as the kernel would.
    void setFile(const std::string& cgroup, const std::string& file, const std::string& text);
    /// Acts on what was written to this cgroup's cgroup.freeze.
    void applyFreeze(const std::string& cgroup);
    /// Acts on what was written to cgroup.kill files. True when it killed something.
    bool applyCgroupKills();
    /// Creates a process inside a cgroup, as a job's fork does.
    void spawnInside(pid_t pid, const std::string& cgroup, uid_t uid = 1000, const std::string& command = "daemon");

    // Faults: the next start, or all stops, come to this outcome.
    std::deque<SystemdError> nextStartFaults; ///< one each; the start has not happened
    std::deque<SystemdError> nextStopFaults;
    bool loseNextStartAnswer = false;                   ///< it has happened, the answer says NoReply
    bool startWithoutMoving = false;                    ///< "done", but the process is elsewhere
    std::map<std::string, SystemdError> propertyFaults; ///< by unit: SetUnitProperties is refused
    bool ignoreProperties = false;                      ///< accepted, and nothing happens, as where a controller is missing
    std::optional<SystemdError> freezeFault;
    std::function<void()> beforeFreeze;
    unsigned systemdVersion = 252;
    bool holdLists = false; ///< of units, as they were when asked for: answered by releaseLists()
    void releaseLists();
    bool shutDown = false;                           ///< PID 1 has begun, and its word is on its way
    std::map<std::string, std::string> activeStates; ///< by unit; else "active"
    bool holdStarts = false;                         ///< answered by release()
    void release();
    bool hangs = false; ///< PID 1 does nothing: starts and lists come to NoReply after 25 s, and lie in its queue
    void goOn();
    /// Who asked is gone, and nobody hears the answers that are on their way.
    void forgetCallers();

    // Placeholders: no real processes.
    Result<pid_t> start() override;
    bool lives(pid_t placeholder) const override { return processes_.contains(placeholder); }
    void end(pid_t placeholder, std::function<void()> over) override;
    void release(pid_t placeholder) override;
    std::set<pid_t> placeholders; ///< whose numbers are kept

    /// Moves what the fake /proc shows.
    std::shared_ptr<const ProcessMover> mover();
    std::function<void(pid_t)> beforeMove; ///< called with who is moved

    std::shared_ptr<const ProcessKiller> killer();
    std::vector<std::string> killedEach; ///< cgroups
    std::vector<pid_t> tracers;          ///< what killTracers() finds
    std::vector<uid_t> tracersKilledOf;  ///< for whom it was called

    // SystemdManager
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
    std::vector<std::pair<std::string, std::vector<UnitProperty>>> changes; ///< SetUnitProperties calls
    std::set<std::string> frozen;
    std::vector<std::pair<std::string, int>> signals; ///< KillUnit calls
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
    std::string pathOf(const std::string& unit) const;
    std::filesystem::path cgroupDir(const std::string& path) const { return root_ / "sys/fs/cgroup" / path.substr(1); }

    ManualEventLoop& loop_;
    std::filesystem::path root_;
    std::map<pid_t, std::string> processes_; ///< pid → cgroup
    std::vector<std::pair<SystemdDone, SystemdOutcome>> held_;
    std::vector<std::function<void()>> heldLists_;
    std::vector<StartRequest> queued_; ///< while it hangs
    std::list<EventHandle> timeouts_;
    std::list<EventHandle> answers_;
};

} // namespace pinfold::test
