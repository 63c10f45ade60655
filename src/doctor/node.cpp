// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "doctor/checks.hpp"

#include <fmt/core.h>

namespace pinfold::doctor {
namespace {

constexpr std::uint64_t kMebi = 1 << 20;
constexpr std::uint64_t kFewInodes = 100;

struct Need {
    const char* id;
    const char* directory;
    const char* use;
    std::uint64_t least;  ///< the free space in bytes below which the check fails
    std::uint64_t scarce; ///< the free space in bytes below which the check warns
};
constexpr Need kNeeds[] = {
    {"space.history", kStateDirectory, "receipts cannot be written, and the node takes no jobs", 16 * kMebi, 128 * kMebi},
    {"space.run", "/run", "no job can start", 1 * kMebi, 16 * kMebi},
};

void checkSpace(const Host& host, const Need& need, Findings& findings) {
    const auto found = host.space.find(need.directory);
    if (found == host.space.end())
        return;
    const auto& space = found->second;
    const bool noInodes = space.inodes > 0 && space.freeInodes < kFewInodes;
    const auto free =
        fmt::format("{} free{}", formatSize(space.free), noInodes ? fmt::format(", {} inodes", space.freeInodes) : "");
    const auto remedy =
        fmt::format("make room: `du -xh -d1 {0}`, `df -i {0}`; `pinfold vacuum` removes old receipts", need.directory);
    if (noInodes || space.free < need.least)
        findings.fail(need.id, fmt::format("{}: when this space is used up, {}", free, need.use), remedy, need.directory);
    else if (space.free < need.scarce)
        findings.warn(need.id, free, remedy, need.directory);
    else
        findings.ok(need.id, free, need.directory);
}

void checkClock(const Host& host, Findings& findings) {
    if (!host.clockSet)
        findings.ok("clock.synchronised", "the container's host sets the clock");
    else if (*host.clockSet)
        findings.ok("clock.synchronised", "the kernel says that the clock is synchronised");
    else
        findings.warn("clock.synchronised", "nothing sets the clock: the times in receipts of several nodes cannot be compared",
                      "systemctl enable --now systemd-timesyncd, or use chrony");
    if (host.newestReceipt && *host.newestReceipt > host.now + 1s)
        findings.warn("clock.receipts",
                      fmt::format("the newest receipt is of {}, which is in the future: the clock was ahead, or is behind now",
                                  formatUtc(*host.newestReceipt)),
                      "set the clock; `pinfold history -S now` shows the receipts from the future", kHistoryFile);
}

} // namespace

void checkNode(const Host& host, const Files&, Findings& findings) {
    for (const auto& need : kNeeds)
        checkSpace(host, need, findings);
    checkClock(host, findings);
}

} // namespace pinfold::doctor
