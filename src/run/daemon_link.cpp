// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/daemon_link.hpp"

#include "base/escape.hpp"
#include "run/deadline.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

// Never from the environment, which is the job's: a "system bus" of its own making could say that all is well.
constexpr const char* kBusAddress = "unix:path=/run/dbus/system_bus_socket";
constexpr std::uint64_t kCallTimeout = 60'000'000;
constexpr std::uint64_t kRetryInterval = 100'000;
// When nobody is there at all, waiting longer than a restart takes helps nobody.
constexpr std::uint64_t kPatienceIfNotThere = 5'000'000;

template <std::size_t N> bool isOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// pinfoldd or the bus went away before it answered.
bool answerLost(std::string_view name) {
    constexpr std::array<std::string_view, 3> names{
        "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected", "org.freedesktop.DBus.Error.Timeout"};
    return isOneOf(name, names);
}

/// Nobody was there to answer.
bool nobodyThere(std::string_view name) {
    constexpr std::array<std::string_view, 3> names{"org.freedesktop.DBus.Error.ServiceUnknown",
                                                    "org.freedesktop.DBus.Error.NameHasNoOwner",
                                                    "org.freedesktop.DBus.Error.TimedOut"};
    return isOneOf(name, names) || name.starts_with("org.freedesktop.DBus.Error.Spawn") ||
           name.starts_with("org.freedesktop.systemd1.");
}

Error unreachable(const std::string& why) {
    return {ErrorCode::Unreachable, "pinfoldd is not reachable: " + why + "; look at `systemctl status pinfoldd`"};
}

} // namespace

DaemonLink::~DaemonLink() { close(); }

void DaemonLink::close() {
    slot_ = sd_bus_slot_unref(slot_);
    bus_ = sd_bus_flush_close_unref(bus_);
    ::malloc_trim(0); // a supervisor sleeps for as long as its job runs: what the bus needed goes back
}

void DaemonLink::begin(const char* method, std::uint64_t patience, Build build, Read read) {
    method_ = method;
    build_ = std::move(build);
    read_ = std::move(read);
    outcome_.reset();
    begun_ = monotonicNow();
    patience_ = patience;
    retryAt_ = 0;
    if (const int sent = send(); sent < 0)
        lost(unreachable(std::strerror(-sent)), true);
}

int DaemonLink::send() {
    int result = 0;
    if (!bus_) {
        if ((result = sd_bus_new(&bus_)) < 0 || (result = sd_bus_set_address(bus_, kBusAddress)) < 0 ||
            (result = sd_bus_set_bus_client(bus_, 1)) < 0 || (result = sd_bus_set_method_call_timeout(bus_, kCallTimeout)) < 0 ||
            (result = sd_bus_start(bus_)) < 0)
            return result;
    }
    sd_bus_message* call = nullptr;
    result =
        sd_bus_message_new_method_call(bus_, &call, "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", method_.c_str());
    if (result >= 0)
        result = build_(call);
    // The end of a job takes as long as it takes: EndJob's answer has no time-out of its own, only the loss of its sender.
    if (result >= 0)
        result = sd_bus_call_async(bus_, &slot_, call, onReply, this, patience_ == UINT64_MAX ? UINT64_MAX : kCallTimeout);
    sd_bus_message_unref(call);
    return result;
}

int DaemonLink::onReply(sd_bus_message* reply, void* self, sd_bus_error*) {
    static_cast<DaemonLink*>(self)->answered(reply);
    return 0;
}

void DaemonLink::answered(sd_bus_message* reply) {
    slot_ = sd_bus_slot_unref(slot_);
    const sd_bus_error* error = sd_bus_message_get_error(reply);
    if (!error) {
        const int read = read_(reply);
        outcome_ = read < 0 ? Result<void>(Error{ErrorCode::Internal,
                                                 std::string("pinfoldd's answer can't be read: ") + std::strerror(-read)})
                            : Result<void>();
        return;
    }
    const std::string_view name = error->name ? error->name : "";
    const auto message = printable(error->message ? error->message : error->name, 1000);
    if (const auto code = errorCodeFromDbusName(name)) {
        // What pinfoldd says has gone through printable() already.
        outcome_ = Error{*code, error->message ? error->message : message};
        return;
    }
    if (answerLost(name) || nobodyThere(name))
        return lost(unreachable(message), nobodyThere(name));
    const bool denied = name == "org.freedesktop.DBus.Error.AccessDenied";
    outcome_ = Error{denied ? ErrorCode::Denied : ErrorCode::Internal, message};
}

void DaemonLink::lost(Error error, bool notThere) {
    const auto patience = notThere && patience_ != UINT64_MAX ? std::min(patience_, kPatienceIfNotThere) : patience_;
    if (monotonicNow() - begun_ >= patience) {
        outcome_ = std::move(error);
        return;
    }
    retryAt_ = monotonicNow() + kRetryInterval;
}

std::optional<Result<void>> DaemonLink::advance() {
    if (retryAt_ == 0 && bus_) {
        int processed = 0;
        while (!outcome_ && retryAt_ == 0 && (processed = sd_bus_process(bus_, nullptr)) > 0) {
        }
        if (processed < 0 && !outcome_ && retryAt_ == 0)
            lost(unreachable(std::strerror(-processed)), false);
    }
    if (retryAt_ != 0 && !outcome_) {
        close(); // whatever went wrong, a new connection is a new start
        if (monotonicNow() >= retryAt_) {
            retryAt_ = 0;
            if (const int sent = send(); sent < 0)
                lost(unreachable(std::strerror(-sent)), true);
        }
    }
    return outcome_;
}

bool DaemonLink::away() const { return !bus_ || retryAt_ != 0 || sd_bus_is_ready(bus_) <= 0; }

pollfd DaemonLink::waitFor() const {
    if (!bus_ || retryAt_ != 0)
        return {-1, 0, 0};
    return {sd_bus_get_fd(bus_), static_cast<short>(std::max(0, sd_bus_get_events(bus_))), 0};
}

int DaemonLink::timeoutMs() const {
    std::uint64_t until = retryAt_;
    if (until == 0 && (!bus_ || sd_bus_get_timeout(bus_, &until) < 0 || until == UINT64_MAX))
        return -1;
    const auto current = monotonicNow();
    return until <= current ? 0 : static_cast<int>(std::min<std::uint64_t>((until - current + 999) / 1000, INT32_MAX));
}

} // namespace pinfold
