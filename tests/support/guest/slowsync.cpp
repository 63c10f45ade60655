// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces functions by LD_PRELOAD, to act as a busy disk. fsync(2) and fdatasync(2) take longer than usual. The file
// $SLOWSYNC_FILE has the additional time in milliseconds.
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
