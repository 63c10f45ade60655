// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/user_database.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace pinfold {
namespace {

/// Returns the error for a failed look-up of a name. For an unknown name, getpwnam(3) leaves errno unchanged, or sets errno to
/// ENOENT or ESRCH.
Error notFound(const char* what, const std::string& name) {
    const std::string shown = std::string(what) + " '" + printable(name, 100) + "'";
    if (errno == 0 || errno == ENOENT || errno == ESRCH)
        return {ErrorCode::InvalidArgument, "unknown " + shown};
    return {ErrorCode::Internal, shown + " cannot be looked up: " + std::strerror(errno)};
}

} // namespace

Result<uid_t> findUser(const std::string& text) {
    if (const auto number = parseUnsigned(text); number && *number < UINT32_MAX)
        return static_cast<uid_t>(*number);
    errno = 0;
    if (const passwd* user = ::getpwnam(text.c_str()))
        return user->pw_uid;
    return notFound("user", text);
}

Result<std::string> nameOfUser(uid_t uid) {
    errno = 0;
    if (const passwd* user = ::getpwuid(uid))
        return std::string(user->pw_name);
    return notFound("user", std::to_string(uid));
}

Result<std::string> nameOfGroup(gid_t gid) {
    errno = 0;
    if (const group* found = ::getgrgid(gid))
        return std::string(found->gr_name);
    return notFound("group", std::to_string(gid));
}

Result<gid_t> findGroup(const std::string& text) {
    if (const auto number = parseUnsigned(text); number && *number < UINT32_MAX)
        return static_cast<gid_t>(*number);
    errno = 0;
    if (const group* found = ::getgrnam(text.c_str()))
        return found->gr_gid;
    return notFound("group", text);
}

std::set<uid_t> membersOfGroup(const std::string& name) {
    std::set<uid_t> uids;
    const group* found = ::getgrnam(name.c_str());
    if (!found)
        return uids;
    // The code copies the names of the members here, because getpwnam(3) can overwrite the result of getgrnam(3).
    std::vector<std::string> names;
    for (char** member = found->gr_mem; *member; ++member)
        names.emplace_back(*member);
    for (const auto& userName : names)
        if (const passwd* user = ::getpwnam(userName.c_str()))
            uids.insert(user->pw_uid);
    return uids;
}

} // namespace pinfold
