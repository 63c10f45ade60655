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

/// Asks the user database. Only one thread at a time may call adminUsers(). Only the thread of Lane::Names calls adminUsers(),
/// because no other code of pinfoldd looks up names.
std::set<uid_t> adminUsers() {
    std::set<uid_t> uids;
    const group* admins = ::getgrnam("pinfold-admin");
    if (!admins)
        return uids;
    // The names must be copied here, because getpwnam(3) may overwrite the result of getgrnam(3).
    std::vector<std::string> names;
    for (char** member = admins->gr_mem; *member; ++member)
        names.emplace_back(*member);
    for (const auto& name : names)
        if (const passwd* user = ::getpwnam(name.c_str()))
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
    const bool asked = background_.ask(Lane::Names, &adminUsers, [this, weak](std::set<uid_t> uids) {
        clients_.setAdmins(std::move(uids));
        over(weak);
    });
    if (!asked) // the lane is full, and the questions in its queue will be asked only later
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
