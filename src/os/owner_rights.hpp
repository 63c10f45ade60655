// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

namespace pinfold {

/// While it lives, this thread has another user's rights where files are concerned (setfsuid(2)), and none of root's: the kernel
/// itself refuses what that user may not do, whatever has been renamed or replaced since we looked.
class FileRightsOf {
public:
    explicit FileRightsOf(uid_t user);
    ~FileRightsOf();
    FileRightsOf(const FileRightsOf&) = delete;
    FileRightsOf& operator=(const FileRightsOf&) = delete;

    /// False without CAP_SETUID: then it has the rights that it had.
    bool held() const { return held_; }

private:
    uid_t before_;
    bool held_;
};

} // namespace pinfold
