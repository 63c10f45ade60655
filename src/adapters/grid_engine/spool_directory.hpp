// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Changes the effective user of the process while the EffectiveUser object exists. The destructor makes root the effective
/// user again. The real user of the process must be root.
class EffectiveUser {
public:
    explicit EffectiveUser(uid_t user);
    EffectiveUser(const EffectiveUser&) = delete;
    EffectiveUser& operator=(const EffectiveUser&) = delete;
    ~EffectiveUser();
};

/// Reads and writes the shepherd's spool directory. When sge_execd starts the shepherd, the spool directory is the shepherd's
/// working directory. SpoolDirectory uses the rights of Grid Engine's admin user. The admin user owns the spool files. root's
/// rights are not enough to write spool files on a file server that treats root as the user nobody.
class SpoolDirectory {
public:
    explicit SpoolDirectory(uid_t admin) : admin_(admin) {}

    /// Returns the absolute path of the spool directory, or an empty text if getcwd(3) fails.
    std::string path() const;
    std::optional<std::string> read(const char* name) const;
    /// Writes a file. A program that reads the file while write() runs gets either the whole old text or the whole new text.
    /// Error: Internal.
    Result<void> write(const char* name, std::string_view text) const;

private:
    uid_t admin_;
};

} // namespace pinfold
