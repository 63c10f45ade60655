// SPDX-License-Identifier: LGPL-2.1-or-later
// LD_PRELOAD puts these functions in place of functions of the C library. The functions delay each write to a file cgroup.procs
// by 20 ms. During the delay, another process can get the process id that pinfoldd writes.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string>
#include <string_view>

extern "C" ssize_t write(int fd, const void* data, size_t size) {
    using Write = ssize_t (*)(int, const void*, size_t);
    static const auto real = reinterpret_cast<Write>(::dlsym(RTLD_NEXT, "write"));
    std::array<char, 512> path{};
    const auto length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path.data(), path.size());
    if (length > 0 && std::string_view(path.data(), static_cast<std::size_t>(length)).ends_with("/cgroup.procs")) {
        const timespec delay{0, 20'000'000};
        ::nanosleep(&delay, nullptr);
    }
    return real(fd, data, size);
}
