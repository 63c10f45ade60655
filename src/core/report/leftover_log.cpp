// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/report/leftover_log.hpp"

#include "core/report/events.hpp"

#include <algorithm>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kEntry = 600; // the size of a journal entry in bytes, without the command line

// Returns the size of a journal entry about the process. sizeOf() counts the command line twice, because a journal entry contains
// the command line in its message and in a field.
std::size_t sizeOf(const ProcessInfo& process) { return kEntry + 2 * process.command.size(); }

} // namespace

void LeftoverLog::say(const Job& job, std::uint32_t task, std::uint64_t count, std::vector<ProcessInfo> named) {
    const auto user = context_.countsAs(job.record.uid);
    if (user == 0)
        return logLeftovers(context_, job, task, count, named);
    auto& share = shareOf(user);
    const auto hasRoom = [&share](std::size_t bytes) { return share.bytes + bytes <= kMostBytes; };
    // For each task, the first journal entry names the task and the number of its leftovers. If LeftoverLog leaves out leftovers,
    // its last entry counts these leftovers. `around` is the size of the first entry and of the last entry together.
    constexpr auto around = 2 * kEntry;
    if (!hasRoom(around))
        return leaveOut(user, share, count);
    share.bytes += around;
    const auto all = named.size();
    std::erase_if(named, [&](const ProcessInfo& process) {
        const bool fits = hasRoom(sizeOf(process));
        share.bytes += fits ? sizeOf(process) : 0;
        return !fits;
    });
    logLeftovers(context_, job, task, count, named);
    if (named.size() < all)
        leaveOut(user, share, all - named.size());
}

LeftoverLog::Share& LeftoverLog::shareOf(uid_t user) {
    const auto now = context_.loop.bootTime();
    std::erase_if(shares_, [now](const auto& entry) { return !entry.second.end && entry.second.began + kStretch <= now; });
    const auto [entry, isNew] = shares_.try_emplace(user);
    if (isNew)
        entry->second.began = now;
    return entry->second;
}

void LeftoverLog::leaveOut(uid_t user, Share& share, std::uint64_t processes) {
    share.unsaid += processes;
    if (share.end)
        return;
    const auto end = share.began + kStretch;
    share.end = context_.loop.after(timeBetween(context_.loop.bootTime(), end), [this, user] {
        const auto over = shares_.extract(user);
        logLeftoversUnsaid(context_, user, over.mapped().unsaid);
    });
}

} // namespace pinfold
