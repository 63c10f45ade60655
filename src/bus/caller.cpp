// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/caller.hpp"

#include "base/escape.hpp"

#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kMaxKnown = 1024;
constexpr std::size_t kMaxWaiting = 128; // dbus-daemon allows at most 128 unanswered calls for each connection
constexpr Microseconds kTimeout = 5s;

} // namespace

CallerResolver::CallerResolver(sdbus::IConnection& connection, const CallerLimits& clients)
    : bus_(dbus::makeProxy(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus")), clients_(clients) {}

std::optional<Caller> CallerResolver::known(const std::string& sender) const {
    const auto found = known_.find(sender);
    return found == known_.end() ? std::nullopt : std::optional(clients_.caller(found->second));
}

void CallerResolver::resolve(const std::string& sender, Done done) {
    if (const auto found = known_.find(sender); found != known_.end())
        return done(clients_.caller(found->second));
    auto& waiting = waiting_[sender];
    if (waiting.size() >= kMaxWaiting)
        return done(Error{ErrorCode::Busy, "too many calls at once: wait for answers first"});
    waiting.push_back(std::move(done));
    if (waiting.size() > 1)
        return;
    auto call = dbus::makeCall(*bus_, "org.freedesktop.DBus", "GetConnectionUnixUser");
    call << sender;
    dbus::callAsync(
        *bus_, call,
        // NOLINTNEXTLINE(bugprone-exception-escape): after an unexpected exception, pinfoldd ends, because libsystemd is C code
        [this, sender](sdbus::MethodReply& reply, const sdbus::Error* error) noexcept {
            std::uint32_t uid = 0;
            if (error)
                return answered(sender, Error{ErrorCode::Denied,
                                              "the bus does not say which user calls: " + printable(error->getMessage(), 200)});
            reply >> uid;
            answered(sender, static_cast<uid_t>(uid));
        },
        kTimeout);
}

void CallerResolver::answered(const std::string& sender, Result<uid_t> uid) {
    if (uid) {
        known_[sender] = *uid;
        order_.push_back(sender);
        if (order_.size() > kMaxKnown) {
            known_.erase(order_.front());
            order_.pop_front();
        }
    }
    const auto entry = waiting_.extract(sender);
    if (!entry)
        return;
    for (const auto& done : entry.mapped())
        done(uid ? Result<Caller>(clients_.caller(*uid)) : Result<Caller>(uid.error()));
}

} // namespace pinfold
