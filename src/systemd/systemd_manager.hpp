// SPDX-License-Identifier: LGPL-2.1-or-later
// Seam: what we ask of PID 1 (org.freedesktop.systemd1(5)). Everything is asynchronous: an answer comes by callback, exactly
// once, never from within the call itself.
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
    PropertyRefused, ///< this version doesn't know a property, or doesn't take its value
    Destructive,     ///< the slice is being stopped (TransactionIsDestructive)
    NoReply,         ///< lost, or too late: PID 1 may or may not have done it
    JobFailed,       ///< the systemd job ended otherwise than "done"
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
    std::string scope;                         ///< empty: the slice alone
    std::vector<UnitProperty> scopeProperties; ///< PIDs included
    std::string slice;                         ///< to be created with it; empty: it is there already
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
};

class SystemdManager {
public:
    virtual ~SystemdManager() = default;

    /// StartTransientUnit, mode "fail"; done when JobRemoved says "done" for the scope. Waits up to 60 s, since starts take up
    /// to 10 s while PID 1 reloads.
    virtual void start(StartRequest request, SystemdDone done) = 0;
    /// StartTransientUnit, mode "fail"; done when the program runs, or could not be.
    virtual void startService(ServiceRequest request, SystemdDone done) = 0;
    /// StopUnit, mode "fail"; done when JobRemoved came. An absent unit is success. Success doesn't mean that its cgroup is
    /// empty.
    virtual void stop(const std::string& unit, SystemdDone done) = 0;
    /// KillUnit, whom "all". `signal` 1 to 64. Slices pass it on to all scopes below.
    virtual void kill(const std::string& unit, int signal, SystemdDone done) = 0;
    /// SetUnitProperties, until the next boot. Done when the cgroup's files have the values. Errors: NoSuchUnit, PropertyRefused.
    virtual void setProperties(const std::string& unit, std::vector<UnitProperty> properties, SystemdDone done) = 0;
    /// FreezeUnit; done when all processes below are frozen. A frozen unit stays as it is.
    virtual void freeze(const std::string& unit, SystemdDone done) = 0;
    /// ThawUnit. A unit that is not frozen stays as it is.
    virtual void thaw(const std::string& unit, SystemdDone done) = 0;
    /// ResetFailedUnit: frees a name that a failed unit blocks.
    virtual void resetFailed(const std::string& unit, SystemdDone done) = 0;
    /// ListUnitsByPatterns with shell patterns.
    virtual void listUnits(std::vector<std::string> patterns,
                           std::function<void(std::variant<std::vector<UnitStatus>, SystemdError>)> done) = 0;

    /// Asks PID 1 whether it shuts the system down. `done` comes after its answer, and after onShutdown if it does; or after a
    /// second.
    virtual void askShutdown(std::function<void()> done) = 0;

    /// 252 for "252.39-1~deb12u1".
    virtual unsigned version() const = 0;

    /// UnitRemoved, held back between the two Reloading signals of daemon-reload and daemon-reexec, in which PID 1 sends it for
    /// live units. It may still come late, twice, and for a unit that lives: look at the cgroup.
    std::function<void(const std::string& unit)> onUnitRemoved;
    /// systemd-oomd killed everything in this cgroup (org.freedesktop.oom1(5), Killed). `path` as in /proc/PID/cgroup.
    std::function<void(const std::string& path)> onOomdKill;
    /// After each reload, and after PID 1 came back to the bus: compare everything once.
    std::function<void()> onReloaded;
    /// PID 1 shuts the system down: it has begun to stop all units, or does so in a moment. May be told more than once.
    std::function<void()> onShutdown;
};

} // namespace pinfold
