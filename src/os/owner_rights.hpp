// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

namespace pinfold {

/// While a FileRightsOf exists, its thread accesses files with the rights of a given user and not with root's rights
/// (setfsuid(2)). The kernel lets the thread access a file only if the user of the FileRightsOf has the right to access the file.
/// If somebody replaces a file after pinfold has examined the file, the kernel checks the rights of FileRightsOf's user to the
/// new file.
class FileRightsOf {
public:
    explicit FileRightsOf(uid_t user);
    ~FileRightsOf();
    FileRightsOf(const FileRightsOf&) = delete;
    FileRightsOf& operator=(const FileRightsOf&) = delete;

    /// Returns false, and leaves the thread's rights unchanged, if the process lacks CAP_SETUID.
    bool held() const { return held_; }

private:
    uid_t before_;
    bool held_;
};

} // namespace pinfold
