// SPDX-License-Identifier: LGPL-2.1-or-later
// LD_PRELOAD puts these functions in place of fsync(2) and fdatasync(2). Like a busy disk, the functions need additional time.
// The file $SLOWSYNC_FILE contains the delay in milliseconds.
#include <dlfcn.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

namespace {

void waitForTheDisk() {
    const char* name = std::getenv("SLOWSYNC_FILE");
    std::FILE* file = name ? std::fopen(name, "re") : nullptr;
    if (!file)
        return;
    long milliseconds = 0;
    if (std::fscanf(file, "%ld", &milliseconds) != 1)
        milliseconds = 0;
    std::fclose(file);
    timespec left{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
    while (::nanosleep(&left, &left) != 0) {
    }
}

int real(const char* name, int fd) { return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, name))(fd); }

} // namespace

extern "C" int fsync(int fd) {
    waitForTheDisk();
    return real("fsync", fd);
}

extern "C" int fdatasync(int fd) {
    waitForTheDisk();
    return real("fdatasync", fd);
}
