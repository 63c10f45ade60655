// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/admins.hpp"

#include "os/user_database.hpp"

#include <sys/types.h>

#include <utility>

namespace pinfold {

struct Admins::Waiting {
    std::function<void()> then;
    EventHandle timer;
};

void Admins::refresh(std::function<void()> then) {
    auto waiting = std::make_shared<Waiting>();
    waiting->then = std::move(then);
    waiting_.insert(waiting);
    const std::weak_ptr weak = waiting;
    struct Members {
        std::set<uid_t> admins;
        std::set<uid_t> auditors;
    };
    // Only the thread of Lane::Names looks up names, because two threads must not look up names at the same time.
    const auto look = [] {
        return Members{.admins = membersOfGroup("pinfold-admin"), .auditors = membersOfGroup("pinfold-audit")};
    };
    const bool asked = background_.ask(Lane::Names, look, [this, weak](Members members) {
        clients_.setAdmins(std::move(members.admins));
        clients_.setAuditors(std::move(members.auditors));
        over(weak);
    });
    if (!asked) // if Lane::Names is full, the list of admins stays as it is
        return over(weak);
    waiting->timer = loop_.after(kPatience, [this, weak] { over(weak); });
}

void Admins::over(const std::weak_ptr<Waiting>& waiting) {
    const auto live = waiting.lock();
    if (!live || waiting_.erase(live) == 0)
        return;
    live->timer.reset();
    live->then();
}

} // namespace pinfold
