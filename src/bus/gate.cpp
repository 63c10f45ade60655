// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/gate.hpp"

#include "base/bus_names.hpp"
#include "bus/request_check.hpp"
#include "systemd/sdbus_compat.hpp"

#include "base/error_code.hpp"

#include <systemd/sd-bus.h>

namespace pinfold {
namespace {

constexpr const char* kListAll = "GetManagedObjects";
constexpr Microseconds kUsecPerObject = 200us;
// dbus-daemon disconnects a connection that sends more than 32 MiB in one message.
constexpr std::size_t kMostBytesOfObjects = 16 << 20;
// Until pinfoldd knows which user owns a connection, pinfoldd counts descriptors from the connection under the user id
// kNewcomers.
constexpr uid_t kNewcomers = static_cast<uid_t>(-1);

int refuse(sd_bus_message* message, const Error& error) {
    const auto name = std::string(kDbusErrorPrefix) + std::string(errorRow(error.code).dbusName);
    sd_bus_reply_method_errorf(message, name.c_str(), "%s", error.message.c_str());
    return 1;
}

} // namespace

Gate::Gate(sdbus::IConnection& connection, CallerResolver& callers, CallerLimits& clients, EventLoop& loop,
           ForeignDescriptors& foreign, std::function<std::size_t()> jobCount, std::function<std::size_t()> objectBytes)
    : callers_(callers), clients_(clients), loop_(loop), foreign_(foreign), jobCount_(std::move(jobCount)),
      objectBytes_(std::move(objectBytes)) {
    // With noexcept, an unexpected exception ends pinfoldd. Without noexcept, an exception would pass through the C code of
    // libsystemd.
    const auto filter = [](sd_bus_message* message, void* self, sd_bus_error*) noexcept {
        return static_cast<Gate*>(self)->look(message);
    };
    filter_ = dbus::addFilter(connection, filter, this);
}

int Gate::look(sd_bus_message* message) {
    const char* sender = sd_bus_message_get_sender(message);
    if (!sender)
        return 0;
    const auto caller = callers_.known(sender);
    // look() calls takeOver() even for a D-Bus signal, because a signal can carry descriptors.
    auto kept = foreign_.takeOver(caller ? caller->countsAs : kNewcomers);
    if (!sd_bus_message_is_method_call(message, nullptr, nullptr))
        return 0;
    const bool ours = sd_bus_message_is_method_call(message, kManagerInterface, nullptr) > 0;
    // While the caller is unknown, the gate holds back all calls except the calls to ManagerObject. ManagerObject itself asks the
    // bus for the caller.
    if (!caller && !ours)
        return hold(message, sender, std::move(kept));
    const char* method = sd_bus_message_get_member(message);
    call_ = {sender, method ? method : "", loop_.cpuTime(), false, std::move(kept)};
    if (caller && !letIn(message, *caller))
        return refuse(message, {ErrorCode::Busy, "too many calls: wait a second"});
    if (asksForTooMuch(message)) {
        sd_bus_reply_method_errorf(message, SD_BUS_ERROR_LIMITS_EXCEEDED,
                                   "the objects of %zu jobs are too much for one message: use ListJobs of org.pinfold1.Manager",
                                   jobCount_());
        return 1;
    }
    if (auto checked = checkRequest(message); !checked)
        return refuse(message, checked.error());
    sd_bus_message_rewind(message, true);
    return 0;
}

bool Gate::asksForTooMuch(sd_bus_message* message) const {
    return sd_bus_message_is_method_call(message, nullptr, kListAll) > 0 && objectBytes_() > kMostBytesOfObjects;
}

// If all unknown senders shared one limit on calls, a user with many connections could use up the calls of all users.
int Gate::hold(sd_bus_message* message, const char* sender, std::shared_ptr<void> kept) {
    const std::shared_ptr<sd_bus_message> held(sd_bus_message_ref(message), &sd_bus_message_unref);
    callers_.resolve(sender, [held, kept = std::move(kept)](const Result<Caller>& caller) {
        if (!caller)
            refuse(held.get(), caller.error());
        else if (sd_bus_enqueue_for_read(sd_bus_message_get_bus(held.get()), held.get()) < 0)
            refuse(held.get(), {ErrorCode::Busy, "too many calls at once: wait a second"});
    });
    return 1;
}

bool Gate::letIn(sd_bus_message* message, const Caller& caller) {
    if (caller.admin)
        return true;
    if (!clients_.rate.take(caller.countsAs, loop_.bootTime()))
        return false;
    call_.counted = true;
    if (sd_bus_message_is_method_call(message, nullptr, kListAll) > 0)
        clients_.rate.charge(caller.countsAs, jobCount_() * kUsecPerObject);
    return true;
}

} // namespace pinfold
