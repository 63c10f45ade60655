// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/logins.hpp"

#include <systemd/sd-login.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace pinfold {
namespace {

struct Freed {
    void operator()(void* memory) const { std::free(memory); }
};
template <class T> using Allocated = std::unique_ptr<T, Freed>;

/// Returns the text that an sd-login call stores in its last argument, or an empty text if the call fails.
template <class F> std::string answer(F&& ask) {
    char* text = nullptr;
    const bool ok = ask(&text) >= 0;
    const Allocated<char> owned(text);
    return ok && text ? text : "";
}

} // namespace

Logins readLogins() {
    Logins logins;
    char** sessions = nullptr;
    const int count = ::sd_get_sessions(&sessions);
    const Allocated<char*> ownedSessions(sessions);
    for (int i = 0; i < count; ++i) {
        const Allocated<char> id(sessions[i]);
        logins.services[id.get()] = answer([&id](char** text) { return ::sd_session_get_service(id.get(), text); });
    }
    uid_t* users = nullptr;
    const int known = ::sd_get_uids(&users);
    const Allocated<uid_t> ownedUsers(users);
    for (int i = 0; i < known; ++i)
        if (answer([uid = users[i]](char** text) { return ::sd_uid_get_state(uid, text); }) == "lingering")
            logins.lingering.insert(users[i]);
    return logins;
}

} // namespace pinfold
