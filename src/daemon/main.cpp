// SPDX-License-Identifier: LGPL-2.1-or-later
#include "build_config.hpp"
#include "daemon/application.hpp"
#include "daemon/options.hpp"

#include <malloc.h>

#include <cstdio>
#include <exception>

namespace {

constexpr int kUsage = 2;

// Makes malloc(3) give freed memory back to the kernel, because the memory of a node is for its jobs. With the default settings
// of malloc(3), pinfoldd would keep the memory of a large answer, because malloc(3) raises its mmap threshold to the size of a
// freed block. By default, malloc(3) also gives each thread of pinfoldd an arena of its own.
void giveBackWhatIsFreed() {
    ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    ::mallopt(M_TRIM_THRESHOLD, 128 * 1024);
    ::mallopt(M_ARENA_MAX, 2);
}

int run(int argc, char** argv) {
    const auto options = pinfold::parseDaemonOptions(argc, argv);
    if (!options) {
        std::fprintf(stderr, "pinfoldd: %s\n", options.error().message.c_str());
        return kUsage;
    }
    if (options->help) {
        std::fputs(pinfold::kDaemonUsage, stdout);
        return 0;
    }
    if (options->version) {
        std::puts("pinfoldd " PINFOLD_VERSION);
        return 0;
    }
    return pinfold::runDaemon(*options);
}

} // namespace

int main(int argc, char** argv) {
    giveBackWhatIsFreed();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        // Functions of libraries may throw exceptions while pinfoldd starts, before pinfoldd watches any job. After an exception
        // at its start, pinfoldd exits, and systemd starts pinfoldd again.
        std::fprintf(
            stderr,
            "<3>pinfoldd: cannot start: %s; pinfoldd needs the system bus, and systemd on the bus: see `systemctl status dbus`\n",
            error.what());
        return 1;
    }
}
