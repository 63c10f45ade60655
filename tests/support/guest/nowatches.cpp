// SPDX-License-Identifier: LGPL-2.1-or-later
// LD_PRELOAD puts this function in place of inotify_add_watch(2). While the file $NOWATCHES_FILE exists, the function acts as if
// the kernel had no free inotify watches. A test must not use up the kernel's inotify watches. The kernel
// counts the watches of the host's user root together with the watches of root in containers.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" int inotify_add_watch(int fd, const char* name, std::uint32_t mask) {
    const char* file = std::getenv("NOWATCHES_FILE");
    if (file && ::access(file, F_OK) == 0) {
        errno = ENOSPC;
        return -1;
    }
    using Call = int (*)(int, const char*, std::uint32_t);
    return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "inotify_add_watch"))(fd, name, mask);
}
