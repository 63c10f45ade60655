// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/auditors.hpp"

#include "os/quiet_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace pinfold {
namespace {

constexpr std::chrono::seconds kInterval{60};

} // namespace

struct Auditors::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::set<uid_t>> members; ///< unset until the user database has answered for the first time
    bool over = false;

    void keepAsking(const Look& look) {
        std::unique_lock lock(mutex);
        while (!over) {
            lock.unlock();
            auto found = look();
            lock.lock();
            members = std::move(found);
            changed.notify_all();
            changed.wait_for(lock, kInterval, [this] { return over; });
        }
    }
};

Auditors::Auditors(Look look, Microseconds patience) : shared_(std::make_shared<Shared>()) {
    startQuietThread([shared = shared_, look = std::move(look)] { shared->keepAsking(look); });
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait_for(lock, std::chrono::microseconds(toUsec(patience)), [this] { return shared_->members.has_value(); });
}

Auditors::~Auditors() {
    const std::lock_guard lock(shared_->mutex);
    shared_->over = true;
    shared_->changed.notify_all();
}

Result<bool> Auditors::seesAll(uid_t uid) const {
    if (uid == 0)
        return true;
    const std::lock_guard lock(shared_->mutex);
    if (!shared_->members)
        return Error{ErrorCode::Unreachable, "the user database has not told yet who is in the groups pinfold-admin and "
                                             "pinfold-audit: try again, and look at `getent group pinfold-audit`"};
    return shared_->members->contains(uid);
}

} // namespace pinfold
