// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

namespace pinfold {

/// While a FileRightsOf lives, its thread has another user's rights for files (setfsuid(2)), and not root's. So the kernel itself
/// refuses what that user may not do, even if somebody has renamed or replaced files after pinfold looked at them.
class FileRightsOf {
public:
    explicit FileRightsOf(uid_t user);
    ~FileRightsOf();
    FileRightsOf(const FileRightsOf&) = delete;
    FileRightsOf& operator=(const FileRightsOf&) = delete;

    /// Returns false if the process lacks CAP_SETUID. In that case the thread has the same rights as before.
    bool held() const { return held_; }

private:
    uid_t before_;
    bool held_;
};

} // namespace pinfold
