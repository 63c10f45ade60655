// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// While this object lives, the process acts as another user, and afterwards as root again. The real user id must be root's.
class EffectiveUser {
public:
    explicit EffectiveUser(uid_t user);
    EffectiveUser(const EffectiveUser&) = delete;
    EffectiveUser& operator=(const EffectiveUser&) = delete;
    ~EffectiveUser();
};

/// The shepherd's spool directory. sge_execd starts the shepherd with this directory as its working directory. SpoolDirectory
/// reads and writes the files as the admin user, because they belong to that user, and on a file server root may be nobody.
class SpoolDirectory {
public:
    explicit SpoolDirectory(uid_t admin) : admin_(admin) {}

    /// The absolute path; empty when there is none.
    std::string path() const;
    std::optional<std::string> read(const char* name) const;
    /// Writes a file. A reader sees the old text or the new one, never half. Error: Internal.
    Result<void> write(const char* name, std::string_view text) const;

private:
    uid_t admin_;
};

} // namespace pinfold
