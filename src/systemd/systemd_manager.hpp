// SPDX-License-Identifier: LGPL-2.1-or-later
// What pinfoldd asks of PID 1 (org.freedesktop.systemd1(5)); an interface that tests replace. Everything is asynchronous: the
// callback with the answer is called exactly once, and never from within the call itself.
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
    UnitExists, ///< a unit of that name is loaded
    NoSuchUnit,
    ProcessGone,     ///< a process of the start request has ended
    PropertyRefused, ///< this version of systemd does not know a property, or does not accept its value
    Destructive,     ///< the slice is being stopped (TransactionIsDestructive)
    NoReply,         ///< the answer was lost, or is too late: PID 1 may or may not have done it
    JobFailed,       ///< the systemd job did not end with "done"
    Other,
};

struct SystemdError {
    SystemdFault fault = SystemdFault::Other;
    std::string message; ///< systemd's words, printable
};

/// Success is nullopt.
using SystemdOutcome = std::optional<SystemdError>;
using SystemdDone = std::function<void(SystemdOutcome)>;

struct UnitProperty {
    using DeviceAmounts = std::vector<std::pair<std::string, std::uint64_t>>; ///< path, amount
    using DeviceRules = std::vector<std::pair<std::string, std::string>>;     ///< path or group, letters of "rwm"
    using Value = std::variant<bool, std::int32_t, std::uint64_t, std::string, std::vector<std::uint8_t>,
                               std::vector<std::uint32_t>, std::vector<std::string>, DeviceAmounts, DeviceRules>;
    std::string name;
    Value value;

    bool operator==(const UnitProperty&) const = default;
};

struct StartRequest {
    std::string scope;                         ///< empty: only the slice is started
    std::vector<UnitProperty> scopeProperties; ///< PIDs included
    std::string slice;                         ///< the slice to be created with the scope; empty: the slice exists already
    std::vector<UnitProperty> sliceProperties;
};

/// A program that PID 1 runs once, as a service of its own.
struct ServiceRequest {
    std::string unit;
    std::vector<UnitProperty> properties;
    std::vector<std::string> argv; ///< the program's absolute path first; variables in it are not expanded
};

struct UnitStatus {
    std::string name;
    std::string activeState;
    std::string subState;

    /// systemd has loaded the unit, and may still start it.
    bool isToStart() const { return activeState == "inactive" || activeState == "activating"; }
};

class SystemdManager {
public:
    virtual ~SystemdManager() = default;

    /// StartTransientUnit, mode "fail". It is done when JobRemoved says "done" for the scope. It waits up to 60 s, since starts
    /// take up to 10 s while PID 1 reloads.
    virtual void start(StartRequest request, SystemdDone done) = 0;
    /// StartTransientUnit, mode "fail". It is done when the program runs, or could not be started.
    virtual void startService(ServiceRequest request, SystemdDone done) = 0;
    /// StopUnit, mode "fail". It is done when JobRemoved has come. If the unit does not exist, this is a success. Success does
    /// not mean that the unit's cgroup is empty.
    virtual void stop(const std::string& unit, SystemdDone done) = 0;
    /// KillUnit, whom "all". `signal`: 1 to 64. A slice passes the signal on to all scopes below.
    virtual void kill(const std::string& unit, int signal, SystemdDone done) = 0;
    /// SetUnitProperties, until the next boot. It is done when the cgroup's files have the values. Errors: NoSuchUnit,
    /// PropertyRefused.
    virtual void setProperties(const std::string& unit, std::vector<UnitProperty> properties, SystemdDone done) = 0;
    /// FreezeUnit. It is done when all processes below are frozen. A frozen unit stays as it is.
    virtual void freeze(const std::string& unit, SystemdDone done) = 0;
    /// ThawUnit. A unit that is not frozen stays as it is.
    virtual void thaw(const std::string& unit, SystemdDone done) = 0;
    /// ResetFailedUnit. This frees a name that a failed unit blocks.
    virtual void resetFailed(const std::string& unit, SystemdDone done) = 0;
    /// ListUnitsByPatterns with shell patterns.
    virtual void listUnits(std::vector<std::string> patterns,
                           std::function<void(std::variant<std::vector<UnitStatus>, SystemdError>)> done) = 0;

    /// Asks PID 1 whether it shuts the system down. `done` is called after PID 1's answer, and after onShutdown if it does; or
    /// after 10 s.
    virtual void askShutdown(std::function<void()> done) = 0;

    /// The version of systemd: 252 for "252.39-1~deb12u1".
    virtual unsigned version() const = 0;

    /// Called at UnitRemoved. It is held back between the two Reloading signals of daemon-reload and daemon-reexec, because PID 1
    /// then sends UnitRemoved for live units. It may still come late, twice, and for a unit that lives, so look at the cgroup.
    std::function<void(const std::string& unit)> onUnitRemoved;
    /// Called when systemd-oomd has killed everything in this cgroup (org.freedesktop.oom1(5), Killed). `path`: as in
    /// /proc/PID/cgroup.
    std::function<void(const std::string& path)> onOomdKill;
    /// Called after each reload, and after PID 1 came back to the bus. The caller should then compare everything once.
    std::function<void()> onReloaded;
    /// Called, possibly more than once, when PID 1 shuts the system down: it has begun to stop all units, or does so in a moment.
    std::function<void()> onShutdown;
};

} // namespace pinfold
