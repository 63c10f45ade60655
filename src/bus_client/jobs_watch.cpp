// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/jobs_watch.hpp"

#include "base/bus_names.hpp"
#include "base/clock.hpp"
#include "bus_client/converted.hpp"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <set>

namespace pinfold {
namespace {

constexpr std::size_t kMostWaits = 64; // dbus-daemon refuses the 129th unanswered call of a connection

} // namespace

struct JobsWatch::Impl {
    void ask(const std::string& key) {
        auto call = dbus::makeCall(*manager, kManagerInterface, "WaitJob");
        call << key;
        asked.insert(key);
        dbus::callAsync(
            *manager, call,
            [this, key](sdbus::MethodReply&, const sdbus::Error* error) {
                asked.erase(key);
                const auto failure = error ? std::optional(fromBusError(*error)) : std::nullopt;
                // If pinfoldd answers WaitJob with NoSuchJob, the job is already over.
                outcome = failure && failure->code != ErrorCode::NoSuchJob ? Result<void>(*failure) : Result<void>();
            },
            kForever);
    }

    /// Waits for a message from the bus. Returns false if the deadline passes before a message comes.
    bool waitForMessage(MonotonicTime deadline) const {
        const auto data = connection->getEventLoopPollData();
        const auto now = MonotonicClock::now();
        const auto until = std::min(deadline, dbus::pollUntil(data));
        const auto left = until == MonotonicTime::max() ? -1
                          : until > now ? static_cast<int>(std::min<std::uint64_t>((until - now) / 1ms + 1, kMost / 1ms))
                                        : 0;
        pollfd wait{data.fd, static_cast<short>(data.events), 0};
        ::poll(&wait, 1, left);
        return MonotonicClock::now() < deadline;
    }

    static constexpr Microseconds kMost = 1h;
    std::unique_ptr<sdbus::IConnection> connection;
    std::unique_ptr<sdbus::IProxy> manager;
    std::set<std::string> asked;
    std::optional<Result<void>> outcome;
};

JobsWatch::JobsWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JobsWatch::JobsWatch(JobsWatch&&) noexcept = default;
JobsWatch& JobsWatch::operator=(JobsWatch&&) noexcept = default;
JobsWatch::~JobsWatch() = default;

Result<JobsWatch> JobsWatch::connect() {
    auto impl = connected<Impl>();
    if (!impl)
        return impl.error();
    return JobsWatch(std::move(*impl));
}

Result<void> JobsWatch::untilOneEnds(const std::vector<std::string>& keys, Microseconds timeout) {
    const auto deadline = after(MonotonicClock::now(), timeout);
    auto waited = converted([&]() -> bool {
        for (const auto& key : keys)
            if (impl_->asked.size() < kMostWaits && !impl_->asked.contains(key))
                impl_->ask(key);
        while (!impl_->outcome) {
            while (dbus::pump(*impl_->connection)) {
            }
            if (!impl_->outcome && !impl_->waitForMessage(deadline))
                return false;
        }
        return true;
    });
    if (!waited)
        return Error{ErrorCode::Unreachable, waited.error().message};
    if (!*waited)
        return Error{ErrorCode::TimedOut, "no job ended in time"};
    return *std::exchange(impl_->outcome, std::nullopt);
}

} // namespace pinfold
