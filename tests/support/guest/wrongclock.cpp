// SPDX-License-Identifier: LGPL-2.1-or-later
// LD_PRELOAD puts this function in place of clock_gettime(2). CLOCK_REALTIME is ahead by $WRONGCLOCK_SECONDS. If
// $WRONGCLOCK_SECONDS is negative, CLOCK_REALTIME is behind the right time.
#include <dlfcn.h>
#include <time.h>

#include <cstdlib>

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
    static const auto real = reinterpret_cast<int (*)(clockid_t, timespec*)>(::dlsym(RTLD_NEXT, "clock_gettime"));
    const int result = real(clock, time);
    const char* ahead = std::getenv("WRONGCLOCK_SECONDS");
    if (result == 0 && clock == CLOCK_REALTIME && ahead)
        time->tv_sec += std::atol(ahead);
    return result;
}
