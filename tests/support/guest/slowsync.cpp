// SPDX-License-Identifier: LGPL-2.1-or-later
// LD_PRELOAD puts these functions in place of fsync(2) and fdatasync(2). Like a busy disk, the functions need additional time.
// The file $SLOWSYNC_FILE contains the delay in milliseconds. When a test removes the file, the delay ends at once.
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

long delay() {
    const char* name = std::getenv("SLOWSYNC_FILE");
    std::FILE* file = name ? std::fopen(name, "re") : nullptr;
    if (!file)
        return 0;
    long milliseconds = 0;
    if (std::fscanf(file, "%ld", &milliseconds) != 1)
        milliseconds = 0;
    std::fclose(file);
    return milliseconds;
}

void waitForTheDisk() {
    constexpr long kPause = 10;
    for (long waited = 0, left = 0; (left = delay() - waited) > 0; waited += kPause) {
        timespec pause{0, std::min(left, kPause) * 1'000'000};
        while (::nanosleep(&pause, &pause) != 0) {
        }
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
