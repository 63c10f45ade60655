// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/owner_rights.hpp"

#include <sys/fsuid.h>

namespace pinfold {
namespace {

/// Returns the calling thread's file system user id (see credentials(7)). The call setfsuid(2) reports no error. If the argument
/// is not a valid user id, setfsuid(2) changes nothing and returns the thread's current id.
uid_t current() { return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))); }

} // namespace

FileRightsOf::FileRightsOf(uid_t user) : before_(static_cast<uid_t>(::setfsuid(user))), held_(current() == user) {}

FileRightsOf::~FileRightsOf() { ::setfsuid(before_); }

} // namespace pinfold
