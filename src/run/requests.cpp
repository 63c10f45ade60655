// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/requests.hpp"

#include <sys/wait.h>
#include <systemd/sd-bus.h>

#include <type_traits>

namespace pinfold {
namespace {

// Longer than a restart of pinfoldd, of the bus or of systemd takes.
constexpr std::uint64_t kCreatePatience = 90'000'000;

int appendLimits(sd_bus_message* call, const ResourceLimits& limits) {
    int result = 0;
    forEachLimit(limits, [call, &result](const char* name, const auto& limit) {
        if (!limit || result < 0)
            return;
        if constexpr (std::is_same_v<std::decay_t<decltype(*limit)>, CpuList>)
            result = sd_bus_message_append(call, "{sv}", name, "s", limit->toString().c_str());
        else
            result = sd_bus_message_append(call, "{sv}", name, "t", *limit);
    });
    return result;
}

} // namespace

void beginCreateJob(DaemonLink& link, const RunOptions& options, int leaderPidfd, int supervisorPidfd, std::string& key) {
    const auto build = [&options, leaderPidfd, supervisorPidfd](sd_bus_message* call) {
        int result = sd_bus_message_append(call, "sh", options.key.c_str(), leaderPidfd);
        if (result >= 0)
            result = sd_bus_message_open_container(call, 'a', "{sv}");
        if (result >= 0 && supervisorPidfd >= 0)
            result = sd_bus_message_append(call, "{sv}", "supervisor", "h", supervisorPidfd);
        if (result >= 0)
            result = appendLimits(call, options.limits);
        return result < 0 ? result : sd_bus_message_close_container(call);
    };
    const auto read = [&key](sd_bus_message* reply) {
        const char* text = nullptr;
        const int result = sd_bus_message_read(reply, "s", &text);
        if (result >= 0)
            key = text;
        return result;
    };
    link.begin("CreateJob", kCreatePatience, build, read);
}

void beginEndJob(DaemonLink& link, const std::string& key, pid_t leader, int waitStatus) {
    const auto build = [&key, leader, waitStatus](sd_bus_message* call) {
        const bool exited = WIFEXITED(waitStatus);
        return sd_bus_message_append(call, "sa{sv}", key.c_str(), 2, exited ? "exit_status" : "exit_signal", "i",
                                     exited ? WEXITSTATUS(waitStatus) : WTERMSIG(waitStatus), "leader", "u",
                                     static_cast<std::uint32_t>(leader));
    };
    link.begin("EndJob", UINT64_MAX, build, [](sd_bus_message*) { return 0; });
}

} // namespace pinfold
