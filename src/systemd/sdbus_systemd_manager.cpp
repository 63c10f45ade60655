// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/sdbus_systemd_manager.hpp"

#include "base/bus_names.hpp"
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "systemd/call_queue.hpp"
#include "systemd/sdbus_compat.hpp"
#include "systemd/shutdown_watch.hpp"
#include "systemd/unit_message.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace pinfold {
namespace {

// dbus-daemon allows each connection 128 unanswered calls and 512 match rules. At any time, fewer than 128 calls of pinfoldd
// wait for an answer. PID 1 needs one match rule for each systemd job that a client waits for. When dbus-daemon refuses the
// 513th match rule, PID 1 of systemd 252 leaves the bus for good. If PID 1 has left the bus, no program on the node can reach
// PID 1 over the bus.
constexpr std::size_t kMaxInFlight = 64;
// A freeze must wait for processes that wait in the kernel, so the owner of a job can delay a freeze without limit. Freezes
// have their own queue, so that no call except a freeze waits for a freeze.
constexpr std::size_t kMaxFreezes = 16;
constexpr Microseconds kReplyTimeout = 30s;
constexpr Microseconds kJobTimeout = 60s; // a start can take up to 10 s while PID 1 reloads its configuration
constexpr std::size_t kMaxEarly = 16;

/// Returns the number in a version such as "252.39-1~deb12u1" or "v256", or 0 if the text contains no number.
unsigned versionNumber(std::string_view text) {
    const auto first = std::min(text.find_first_of("0123456789"), text.size());
    const auto digits = text.substr(first, text.find_first_not_of("0123456789", first) - first);
    const auto number = parseUnsigned(digits);
    return number ? static_cast<unsigned>(std::min<std::uint64_t>(*number, 99'999)) : 0;
}

SystemdFault faultOf(const std::string& name, const std::string& message) {
    constexpr std::array<std::pair<std::string_view, SystemdFault>, 12> table{{
        {"org.freedesktop.systemd1.UnitExists", SystemdFault::UnitExists},
        {"org.freedesktop.systemd1.NoSuchUnit", SystemdFault::NoSuchUnit},
        {"org.freedesktop.systemd1.TransactionIsDestructive", SystemdFault::Destructive},
        {"org.freedesktop.DBus.Error.UnixProcessIdUnknown", SystemdFault::ProcessGone},
        {"org.freedesktop.DBus.Error.PropertyReadOnly", SystemdFault::PropertyRefused},
        {"org.freedesktop.DBus.Error.UnknownProperty", SystemdFault::PropertyRefused},
        {"org.freedesktop.DBus.Error.InvalidArgs", SystemdFault::PropertyRefused},
        {"org.freedesktop.DBus.Error.NoReply", SystemdFault::NoReply},
        {"org.freedesktop.DBus.Error.Timeout", SystemdFault::NoReply},
        {"org.freedesktop.DBus.Error.Disconnected", SystemdFault::NoReply},
        {"org.freedesktop.DBus.Error.ServiceUnknown", SystemdFault::NoReply},
        {"System.Error.ETIMEDOUT", SystemdFault::NoReply},
    }};
    // systemd uses several names for the error UnitExists. The message of this error always contains "was already loaded or has a
    // fragment file".
    if (message.find("was already loaded or has a fragment file") != std::string::npos)
        return SystemdFault::UnitExists;
    for (const auto& [known, fault] : table)
        if (known == name)
            return fault;
    return SystemdFault::Other;
}

SystemdError toError(const sdbus::Error& error) {
    return {faultOf(dbus::errorName(error), error.getMessage()), printable(error.getMessage(), 500)};
}

} // namespace

struct SdbusSystemdManager::Impl {
    Impl(SdbusSystemdManager& ownerArg, sdbus::IConnection& connectionArg, EventLoop& loopArg)
        : owner(ownerArg), connection(connectionArg), loop(loopArg),
          proxy(dbus::makeProxy(connection, kSystemdName, kSystemdPath)), calls(*proxy, loop, kMaxInFlight, kReplyTimeout),
          freezes(*proxy, loop, kMaxFreezes, kReplyTimeout) {
        const auto signal = [](const std::string& member) {
            return std::string("type='signal',sender='") + kSystemdName + "',path='" + kSystemdPath + "',interface='" +
                   kSystemdInterface + "',member='" + member + "'";
        };
        matches.push_back(dbus::addMatch(connection, signal("JobRemoved"), guarded(&Impl::jobRemoved)));
        matches.push_back(dbus::addMatch(connection, signal("UnitRemoved"), guarded(&Impl::unitRemoved)));
        matches.push_back(dbus::addMatch(connection, signal("Reloading"), guarded(&Impl::reloadingChanged)));
        matches.push_back(
            dbus::addMatch(connection,
                           std::string("type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                                       "member='NameOwnerChanged',arg0='") +
                               kSystemdName + "'",
                           guarded(&Impl::ownerChanged)));
        matches.push_back(dbus::addMatch(connection,
                                         "type='signal',sender='org.freedesktop.oom1',path='/org/freedesktop/oom1',"
                                         "interface='org.freedesktop.oom1.Manager',member='Killed'",
                                         guarded(&Impl::killedByOomd)));
        proxy->callMethod(dbus::makeCall(*proxy, kSystemdInterface, "Subscribe"));
        matches.push_back(dbus::addMatch(connection,
                                         "type='signal',sender='org.freedesktop.login1',path='/org/freedesktop/login1',"
                                         "interface='org.freedesktop.login1.Manager',member='PrepareForShutdown'",
                                         guarded(&Impl::preparingForShutdown)));
        shutdown.emplace(ShutdownWatch::Parts{connection, *proxy, loop}, [this](BootTime since) {
            if (owner.onShutdown)
                owner.onShutdown(since);
        });
        version = versionNumber(proxy->getProperty("Version").onInterface(kSystemdInterface).get<std::string>());
    }

    /// sdbus-c++ 1.2 catches no exception of a match handler. guarded() makes pinfoldd ignore signals that pinfoldd cannot
    /// read.
    std::function<void(sdbus::Message&)> guarded(void (Impl::*handler)(sdbus::Message&)) {
        return [this, handler](sdbus::Message& message) {
            // systemd and the bus send their signals as broadcasts. If a signal is not a broadcast, another program has sent the
            // signal directly to pinfoldd, so pinfoldd ignores the signal.
            if (!dbus::isBroadcast(dbus::rawMessage(message)))
                return;
            try {
                (this->*handler)(message);
            } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): systemd does not send signals that cannot be read
            }
        };
    }

    // Describes a systemd job that pinfoldd has asked for. PID 1 can report the end of a systemd job before pinfoldd gets the
    // reply with the D-Bus path of the systemd job.
    struct PendingJob {
        std::string unit;
        SystemdDone done;
        EventHandle deadline;
        std::string path;
        /// Maps the D-Bus paths of ended systemd jobs to the results of the systemd jobs. `ended` contains only systemd jobs for
        /// the unit `unit`. pinfoldd needs `ended` until PID 1 has sent the path of the requested systemd job.
        std::map<std::string, SystemdOutcome> ended;
    };

    struct QueuedJob {
        std::string unit;
        sdbus::MethodCall call;
        SystemdDone done;
        BootTime since;
    };

    void runJob(const std::string& unit, sdbus::MethodCall call, SystemdDone done) {
        queued.push_back({unit, std::move(call), std::move(done), loop.bootTime()});
        runQueued();
    }

    void runQueued() {
        while (!queued.empty() && pending.size() < kMaxInFlight) {
            auto job = std::move(queued.front());
            queued.pop_front();
            // A call that has waited too long must not be sent. During a long wait, a new unit can get the name of an ended unit.
            // A new process can get the id of an ended process.
            if (loop.bootTime() - job.since >= kReplyTimeout)
                job.done(SystemdError{SystemdFault::NoReply, "systemd was too busy to be called in time"});
            else
                send(job.unit, std::move(job.call), std::move(job.done));
        }
    }

    void send(const std::string& unit, sdbus::MethodCall call, SystemdDone done) {
        const auto id = nextId++;
        auto& job = pending[id];
        job.unit = unit;
        job.done = std::move(done);
        job.deadline = loop.after(kJobTimeout, [this, id] {
            finish(id, SystemdError{SystemdFault::NoReply, "no JobRemoved signal within 60 s"});
        });
        calls.call(std::move(call), [this, id](sdbus::MethodReply& reply, const sdbus::Error* error) {
            if (error)
                return finish(id, toError(*error));
            sdbus::ObjectPath path;
            reply >> path;
            started(id, path);
        });
    }

    void started(std::uint64_t id, const std::string& path) {
        const auto found = pending.find(id);
        if (found == pending.end())
            return; // the reply came only after the time-out
        found->second.path = path;
        if (const auto ended = found->second.ended.find(path); ended != found->second.ended.end())
            finish(id, SystemdOutcome(ended->second));
    }

    void finish(std::uint64_t id, SystemdOutcome outcome) {
        const auto job = pending.extract(id);
        if (job)
            job.mapped().done(std::move(outcome));
        runQueued();
    }

    void jobRemoved(sdbus::Message& message) {
        std::uint32_t number = 0;
        sdbus::ObjectPath path;
        std::string unit;
        std::string result;
        message >> number >> path >> unit >> result;
        SystemdOutcome outcome;
        if (result != "done")
            outcome = SystemdError{SystemdFault::JobFailed, "the systemd job ended with result '" + printable(result, 50) + "'"};
        // If pinfoldd asks PID 1 several times to stop one unit, PID 1 makes only one systemd job, and all replies contain the
        // same D-Bus path.
        std::vector<std::uint64_t> ended;
        for (auto& [id, job] : pending) {
            if (job.path == path)
                ended.push_back(id);
            else if (job.path.empty() && job.unit == unit && job.ended.size() < kMaxEarly)
                job.ended.emplace(path, outcome);
        }
        for (const auto id : ended)
            finish(id, outcome);
    }

    void unitRemoved(sdbus::Message& message) {
        std::string unit;
        message >> unit;
        if (!reloading && owner.onUnitRemoved)
            owner.onUnitRemoved(unit);
    }

    void killedByOomd(sdbus::Message& message) {
        std::string path;
        message >> path;
        if (owner.onOomdKill)
            owner.onOomdKill(path);
    }

    void preparingForShutdown(sdbus::Message& message) {
        bool begins = false;
        message >> begins;
        shutdown->announce(begins);
    }

    void reloadingChanged(sdbus::Message& message) {
        message >> reloading;
        if (!reloading && owner.onReloaded)
            owner.onReloaded();
    }

    void ownerChanged(sdbus::Message& message) {
        std::string name;
        std::string oldOwner;
        std::string newOwner;
        message >> name >> oldOwner >> newOwner;
        if (newOwner.empty())
            return;
        reloading = false;
        calls.call(dbus::makeCall(*proxy, kSystemdInterface, "Subscribe"), [this](sdbus::MethodReply&, const sdbus::Error*) {
            if (owner.onReloaded)
                owner.onReloaded();
        });
    }

    void simpleCall(sdbus::MethodCall call, SystemdDone done) { callBy(calls, std::move(call), std::move(done)); }

    static void callBy(CallQueue& queue, sdbus::MethodCall call, SystemdDone done) {
        queue.call(std::move(call), [done = std::move(done)](sdbus::MethodReply&, const sdbus::Error* error) {
            done(error ? SystemdOutcome(toError(*error)) : std::nullopt);
        });
    }

    SdbusSystemdManager& owner;
    sdbus::IConnection& connection;
    EventLoop& loop;
    std::unique_ptr<sdbus::IProxy> proxy;
    CallQueue calls;
    CallQueue freezes;
    std::vector<dbus::Match> matches;
    std::optional<ShutdownWatch> shutdown;
    std::map<std::uint64_t, PendingJob> pending;
    std::deque<QueuedJob> queued;
    std::uint64_t nextId = 1;
    bool reloading = false;
    unsigned version = 0;
};

SdbusSystemdManager::SdbusSystemdManager(sdbus::IConnection& connection, EventLoop& loop)
    : impl_(std::make_unique<Impl>(*this, connection, loop)) {}

SdbusSystemdManager::~SdbusSystemdManager() = default;

void SdbusSystemdManager::start(StartRequest request, SystemdDone done) {
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "StartTransientUnit");
    const bool onlySlice = request.scope.empty();
    const auto& unit = onlySlice ? request.slice : request.scope;
    call << unit << "fail";
    appendProperties(call, onlySlice ? request.sliceProperties : request.scopeProperties);
    appendAuxiliary(call, onlySlice ? std::string() : request.slice, request.sliceProperties);
    impl_->runJob(unit, std::move(call), std::move(done));
}

void SdbusSystemdManager::startService(ServiceRequest request, SystemdDone done) {
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "StartTransientUnit");
    call << request.unit << "fail";
    appendService(call, request);
    appendAuxiliary(call, {}, {});
    impl_->runJob(request.unit, std::move(call), std::move(done));
}

void SdbusSystemdManager::stop(const std::string& unit, SystemdDone done) {
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "StopUnit");
    call << unit << "fail";
    impl_->runJob(unit, std::move(call), [done = std::move(done)](SystemdOutcome outcome) {
        done(outcome && outcome->fault == SystemdFault::NoSuchUnit ? std::nullopt : std::move(outcome));
    });
}

void SdbusSystemdManager::kill(const std::string& unit, int signal, SystemdDone done) {
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "KillUnit");
    call << unit << "all" << signal;
    impl_->simpleCall(std::move(call), std::move(done));
}

void SdbusSystemdManager::setProperties(const std::string& unit, std::vector<UnitProperty> properties, SystemdDone done) {
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "SetUnitProperties");
    call << unit << true;
    appendProperties(call, properties);
    impl_->simpleCall(std::move(call), std::move(done));
}

void SdbusSystemdManager::freeze(const std::string& unit, SystemdDone done) {
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "FreezeUnit");
    call << unit;
    Impl::callBy(impl_->freezes, std::move(call), std::move(done));
}

void SdbusSystemdManager::thaw(const std::string& unit, SystemdDone done) {
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "ThawUnit");
    call << unit;
    impl_->simpleCall(std::move(call), std::move(done));
}

void SdbusSystemdManager::askShutdown(std::function<void()> done) { impl_->shutdown->ask(std::move(done)); }

unsigned SdbusSystemdManager::version() const { return impl_->version; }

void SdbusSystemdManager::resetFailed(const std::string& unit, SystemdDone done) {
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "ResetFailedUnit");
    call << unit;
    impl_->simpleCall(std::move(call), std::move(done));
}

void SdbusSystemdManager::listUnits(std::vector<std::string> patterns,
                                    std::function<void(std::variant<std::vector<UnitStatus>, SystemdError>)> done) {
    using Row = sdbus::Struct<std::string, std::string, std::string, std::string, std::string, std::string, sdbus::ObjectPath,
                              std::uint32_t, std::string, sdbus::ObjectPath>;
    auto call = dbus::makeCall(*impl_->proxy, kSystemdInterface, "ListUnitsByPatterns");
    call << std::vector<std::string>{} << patterns;
    impl_->calls.call(std::move(call), [done = std::move(done)](sdbus::MethodReply& reply, const sdbus::Error* error) {
        if (error)
            return done(toError(*error));
        std::vector<Row> rows;
        reply >> rows;
        std::vector<UnitStatus> units;
        units.reserve(rows.size());
        for (const auto& row : rows)
            units.push_back({std::get<0>(row), std::get<3>(row), std::get<4>(row)});
        done(std::move(units));
    });
}

} // namespace pinfold
