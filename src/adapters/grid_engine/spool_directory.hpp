// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Makes the process act as another user while the EffectiveUser lives, and as root again afterwards. The real user id of the
/// process must be root's.
class EffectiveUser {
public:
    explicit EffectiveUser(uid_t user);
    EffectiveUser(const EffectiveUser&) = delete;
    EffectiveUser& operator=(const EffectiveUser&) = delete;
    ~EffectiveUser();
};

/// Reads and writes the shepherd's spool directory. sge_execd starts the shepherd with this directory as its working directory.
/// SpoolDirectory acts as Grid Engine's admin user, because the files belong to this user, and because a file server may treat
/// root as nobody.
class SpoolDirectory {
public:
    explicit SpoolDirectory(uid_t admin) : admin_(admin) {}

    /// Returns the absolute path, or an empty text if there is none.
    std::string path() const;
    std::optional<std::string> read(const char* name) const;
    /// Writes a file. A reader sees either the old text or the new text. Error: Internal.
    Result<void> write(const char* name, std::string_view text) const;

private:
    uid_t admin_;
};

} // namespace pinfold
