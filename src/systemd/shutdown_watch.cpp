// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/shutdown_watch.hpp"
#include "base/bus_names.hpp"

#include <string>
#include <utility>

namespace pinfold {
namespace {

constexpr Microseconds kPatience = 10s; // PID 1 can answer late, because PID 1 has much to do when a shutdown begins
// On a slow virtual machine with 20 jobs, PID 1 stopped units for 50 s before it answered.
constexpr Microseconds kPatienceAtShutdown = 5min;
constexpr std::size_t kMostQuestions = 64; // the number of questions that wait for an answer at the same time

// At the beginning of a shutdown, PID 1 creates a systemd job for shutdown.target. PID 1 announces the systemd job for
// shutdown.target before PID 1 runs any systemd job of the shutdown.
constexpr const char* kRule = "type='signal',sender='org.freedesktop.systemd1',path='/org/freedesktop/systemd1',"
                              "interface='org.freedesktop.systemd1.Manager',member='JobNew',arg2='shutdown.target'";

} // namespace

ShutdownWatch::ShutdownWatch(Parts parts, std::function<void(BootTime since)> begun)
    : parts_(parts), calls_(parts.proxy, parts.loop, kMostQuestions, kPatienceAtShutdown), begun_(std::move(begun)) {
    const auto daemon = dbus::makeProxy(parts_.connection, "org.freedesktop.DBus", "/org/freedesktop/DBus");
    auto call = dbus::makeCall(*daemon, "org.freedesktop.DBus", "AddMatch");
    call << std::string(kRule);
    daemon->callMethod(call);
    // The bus must test the third argument of the signal JobNew (arg2 in kRule). Without arg2, pinfoldd would get several signals
    // JobNew for each batch job. libsystemd cannot test the third argument of JobNew, because the first argument is a number.
    // ShutdownWatch uses addFilter(), and not a match rule of libsystemd.
    const auto filter = [](sd_bus_message* message, void* self, sd_bus_error*) noexcept {
        static_cast<ShutdownWatch*>(self)->look(message);
        return 0;
    };
    filter_ = dbus::addFilter(parts_.connection, filter, this);
    ask([] {}); // a shutdown has possibly begun before addFilter() has added the filter
}

void ShutdownWatch::look(sd_bus_message* message) {
    if (sd_bus_message_is_signal(message, kSystemdInterface, "JobNew") <= 0 || !dbus::isBroadcast(message) || asking_)
        return;
    try {
        asking_ = true;
        ask([this] { asking_ = false; }); // JobNew does not say whether the systemd job starts or stops shutdown.target
    } catch (const sdbus::Error&) {       // the bus is gone, and the event source of the bus notices the loss
        asking_ = false;
    }
}

void ShutdownWatch::announce(bool begins) {
    announced_ = begins ? std::optional(announced_.value_or(parts_.loop.bootTime())) : std::nullopt;
    for (auto& [number, question] : questions_)
        question.deadline = deadline(number);
}

EventHandle ShutdownWatch::deadline(std::uint64_t number) {
    return parts_.loop.after(announced_ ? kPatienceAtShutdown : kPatience, [this, number] { answered(number); });
}

void ShutdownWatch::ask(std::function<void()> done) {
    const auto number = next_++;
    questions_[number] = {std::move(done), deadline(number)};
    auto call = dbus::makeCall(parts_.proxy, "org.freedesktop.DBus.Properties", "Get");
    call << std::string(kSystemdInterface) << std::string("SystemState");
    calls_.call(std::move(call), [this, number](sdbus::MethodReply& reply, const sdbus::Error* error) {
        sdbus::Variant state;
        if (!error)
            reply >> state;
        if (!error && state.get<std::string>() == "stopping")
            begun_(announced_.value_or(parts_.loop.bootTime()));
        answered(number);
    });
}

void ShutdownWatch::answered(std::uint64_t number) {
    if (auto question = questions_.extract(number))
        question.mapped().done();
}

} // namespace pinfold
