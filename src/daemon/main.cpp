// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/service_options.hpp"
#include "daemon/application.hpp"

#include <malloc.h>

#include <cstdio>
#include <exception>

namespace {

constexpr const char* kUsage = "Usage: pinfoldd [--root DIR]\n"
                               "\n"
                               "Keeps each batch job of this node in its own systemd scope. systemd starts it:\n"
                               "  systemctl start pinfoldd\n"
                               "\n"
                               "  --root DIR   put DIR before all paths that are read and written, for tests\n"
                               "  --help       show this help\n"
                               "  --version    show the version\n"
                               "\n"
                               "See pinfoldd(8), pinfold.toml(5).\n";

// Makes malloc(3) give freed memory back to the kernel, because the node's memory should be available to jobs. By default,
// malloc(3) raises its mmap threshold when a program frees a large block. Without mallopt(3), pinfoldd would keep the memory of
// a large answer. By default, malloc(3) gives most threads of pinfoldd a separate arena.
void giveBackWhatIsFreed() {
    ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    ::mallopt(M_TRIM_THRESHOLD, 128 * 1024);
    ::mallopt(M_ARENA_MAX, 2);
}

int run(int argc, char** argv) {
    const auto parsed = pinfold::parseServiceOptions(argc, argv, {.name = "pinfoldd", .usage = kUsage});
    if (const auto* early = std::get_if<pinfold::EarlyExit>(&parsed)) {
        std::fputs(early->text.c_str(), early->status == 0 ? stdout : stderr);
        return early->status;
    }
    return pinfold::runDaemon(std::get<pinfold::ServiceOptions>(parsed).root);
}

} // namespace

int main(int argc, char** argv) {
    giveBackWhatIsFreed();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        // Functions of libraries can throw exceptions while pinfoldd starts, before pinfoldd watches any job. If an exception
        // occurs at the start of pinfoldd, pinfoldd exits, and systemd starts pinfoldd again.
        std::fprintf(
            stderr,
            "<3>pinfoldd: cannot start: %s; pinfoldd needs the system bus, and systemd on the bus: see `systemctl status dbus`\n",
            error.what());
        return 1;
    }
}
