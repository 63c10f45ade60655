// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the calls from pinfoldd to PID 1 (org.freedesktop.systemd1(5)). Tests use a stand-in that implements SystemdManager.
// All calls are asynchronous: a function with a callback returns before PID 1 has answered. SystemdManager later calls the
// callback exactly once.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pinfold {

enum class SystemdFault {
    UnitExists, ///< systemd has already loaded a unit with the same name
    NoSuchUnit,
    ProcessGone,     ///< a process that the start request names has already ended
    PropertyRefused, ///< this version of systemd does not know a property, or refuses the value of a property
    Destructive,     ///< the slice is being stopped (TransactionIsDestructive)
    NoReply,         ///< the answer was lost or came too late; it is not known whether PID 1 has carried out the request
    JobFailed,       ///< the systemd job did not end with "done"
    Other,
};

struct SystemdError {
    SystemdFault fault = SystemdFault::Other;
    std::string message; ///< the error message of systemd, made printable by printable()
};

/// Says how a call ended. The value nullopt means success.
using SystemdOutcome = std::optional<SystemdError>;
using SystemdDone = std::function<void(SystemdOutcome)>;

struct UnitProperty {
    /// Each pair contains the path of a device and an amount, such as a bandwidth.
    using DeviceAmounts = std::vector<std::pair<std::string, std::uint64_t>>;
    /// Each pair contains a device (or a group of devices) and the allowed kinds of access, such as "rw" or "rwm".
    using DeviceRules = std::vector<std::pair<std::string, std::string>>;
    using Value = std::variant<bool, std::int32_t, std::uint64_t, std::string, std::vector<std::uint8_t>,
                               std::vector<std::uint32_t>, std::vector<std::string>, DeviceAmounts, DeviceRules>;
    std::string name;
    Value value;

    bool operator==(const UnitProperty&) const = default;
};

struct StartRequest {
    std::string scope;                         ///< the name of the scope; if empty, systemd starts only the slice
    std::vector<UnitProperty> scopeProperties; ///< the properties of the scope, including PIDs
    std::string slice; ///< the name of the slice that systemd creates together with the scope; empty if the slice exists already
    std::vector<UnitProperty> sliceProperties;
};

/// Asks PID 1 to run a program once, as a separate service.
struct ServiceRequest {
    std::string unit;
    std::vector<UnitProperty> properties;
    /// The command line of the program. `argv[0]` is an absolute path. systemd expands no variables in the command line.
    std::vector<std::string> argv;
};

struct UnitStatus {
    std::string name;
    std::string activeState;
    std::string subState;

    /// Returns true if the start of the unit has not begun, or is not complete.
    bool isToStart() const { return activeState == "inactive" || activeState == "activating"; }
};

class SystemdManager {
public:
    virtual ~SystemdManager() = default;

    /// Calls StartTransientUnit with mode "fail". start() succeeds when PID 1 sends JobRemoved with the result "done" for the
    /// scope. start() waits up to 60 s for JobRemoved, because PID 1 can be busy: a reload alone can delay the start by 10 s.
    virtual void start(StartRequest request, SystemdDone done) = 0;
    /// Calls StartTransientUnit with mode "fail". startService() calls `done` when the program runs, or when PID 1 could not
    /// start the program.
    virtual void startService(ServiceRequest request, SystemdDone done) = 0;
    /// Calls StopUnit with mode "fail". stop() calls `done` when PID 1 has sent JobRemoved for the unit. If the unit does not
    /// exist, the stop counts as a success. Success does not mean that the unit's cgroup is empty.
    virtual void stop(const std::string& unit, SystemdDone done) = 0;
    /// Calls KillUnit with the word "all", so that PID 1 sends the signal to all processes of the unit. `signal` is 1 to 64. For
    /// a slice, PID 1 sends the signal to all scopes below the slice.
    virtual void kill(const std::string& unit, int signal, SystemdDone done) = 0;
    /// Calls SetUnitProperties. The new values of the properties apply until the next boot. setProperties() calls `done` when
    /// the files of the cgroup contain the new values. Errors: NoSuchUnit, PropertyRefused.
    virtual void setProperties(const std::string& unit, std::vector<UnitProperty> properties, SystemdDone done) = 0;
    /// Calls FreezeUnit. freeze() calls `done` when all processes below the unit are frozen. If the unit is already frozen,
    /// freeze() changes nothing.
    virtual void freeze(const std::string& unit, SystemdDone done) = 0;
    /// Calls ThawUnit. If the unit is not frozen, thaw() changes nothing.
    virtual void thaw(const std::string& unit, SystemdDone done) = 0;
    /// Calls ResetFailedUnit, so that a new unit can get the name of the failed unit.
    virtual void resetFailed(const std::string& unit, SystemdDone done) = 0;
    /// Calls ListUnitsByPatterns with shell patterns.
    virtual void listUnits(std::vector<std::string> patterns,
                           std::function<void(std::variant<std::vector<UnitStatus>, SystemdError>)> done) = 0;

    /// Asks PID 1 whether a shutdown of the system has begun. After PID 1's answer, SystemdManager calls `done`, whatever the
    /// answer is. If there is a shutdown, SystemdManager calls onShutdown before `done`. If no answer comes, SystemdManager
    /// calls `done` after 10 s. If logind has announced a shutdown, SystemdManager waits up to 5 minutes for the answer.
    virtual void askShutdown(std::function<void()> done) = 0;

    /// Returns the version of systemd, such as 252 for "252.39-1~deb12u1".
    virtual unsigned version() const = 0;

    /// SystemdManager calls onUnitRemoved when PID 1 sends UnitRemoved. During a daemon-reload or daemon-reexec, PID 1 sends
    /// UnitRemoved for live units. Between the two Reloading signals, SystemdManager does not call onUnitRemoved.
    /// SystemdManager possibly calls onUnitRemoved late, twice, or for a unit that still exists. The callback onUnitRemoved
    /// must look at the cgroup to learn whether the unit still exists.
    std::function<void(const std::string& unit)> onUnitRemoved;
    /// SystemdManager calls onOomdKill when systemd-oomd has killed all processes in the cgroup `path`. systemd-oomd reports
    /// the kill with the signal Killed (org.freedesktop.oom1(5)). `path` has the form of /proc/PID/cgroup.
    std::function<void(const std::string& path)> onOomdKill;
    /// SystemdManager calls onReloaded after each reload of PID 1, and after PID 1 has come back to the bus. The callback
    /// should check once whether the units of all jobs still exist.
    std::function<void()> onReloaded;
    /// SystemdManager calls onShutdown, possibly more than once, when PID 1 shuts the system down. When SystemdManager calls
    /// onShutdown, PID 1 has begun to stop all units, or will soon begin. The argument `since` is the time at which logind has
    /// announced the shutdown. If logind has not announced the shutdown, `since` is the time of the call.
    std::function<void(BootTime since)> onShutdown;
};

} // namespace pinfold
