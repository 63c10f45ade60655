// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/admins.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

/// Asks the user database. Only one thread at a time may call membersOf(). Only the thread of Lane::Names calls membersOf(),
/// because no other code of pinfoldd looks up names.
std::set<uid_t> membersOf(const char* name) {
    std::set<uid_t> uids;
    const group* found = ::getgrnam(name);
    if (!found)
        return uids;
    // The names must be copied here, because getpwnam(3) may overwrite the result of getgrnam(3).
    std::vector<std::string> names;
    for (char** member = found->gr_mem; *member; ++member)
        names.emplace_back(*member);
    for (const auto& userName : names)
        if (const passwd* user = ::getpwnam(userName.c_str()))
            uids.insert(user->pw_uid);
    return uids;
}

} // namespace

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
    const auto look = [] { return Members{.admins = membersOf("pinfold-admin"), .auditors = membersOf("pinfold-audit")}; };
    const bool asked = background_.ask(Lane::Names, look, [this, weak](Members members) {
        clients_.setAdmins(std::move(members.admins));
        clients_.setAuditors(std::move(members.auditors));
        over(weak);
    });
    if (!asked) // the queue of the lane is full, so its threads will ask the user database only later
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
