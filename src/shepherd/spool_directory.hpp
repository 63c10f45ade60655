// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Acts as another user while it lives, and as root again after. The real user id must be root's.
class EffectiveUser {
public:
    explicit EffectiveUser(uid_t user);
    EffectiveUser(const EffectiveUser&) = delete;
    EffectiveUser& operator=(const EffectiveUser&) = delete;
    ~EffectiveUser();
};

/// The shepherd's spool directory, which sge_execd makes its working directory. Files are read and written as the admin user:
/// they are that user's, and on a file server root may be nobody.
class SpoolDirectory {
public:
    explicit SpoolDirectory(uid_t admin) : admin_(admin) {}

    /// Absolute; empty when there is none.
    std::string path() const;
    std::optional<std::string> read(const char* name) const;
    /// In one step for who reads it meanwhile. Error: Internal.
    Result<void> write(const char* name, std::string_view text) const;

private:
    uid_t admin_;
};

} // namespace pinfold
