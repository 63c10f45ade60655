// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/leftover_files.hpp"

#include "base/enum_names.hpp"
#include "base/escape.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <utility>

namespace pinfold {
namespace {

RealTime ofSeconds(std::uint64_t since1970) { return RealTime(std::chrono::seconds(since1970)); }
constexpr std::string_view kSharedMemory = "/dev/shm";

constexpr auto kKinds = enumNames<LeftoverKind>({
    {LeftoverKind::ShmFile, "shm-file"},
    {LeftoverKind::ShmDirectory, "shm-directory"},
    {LeftoverKind::TmpFile, "tmp-file"},
    {LeftoverKind::TmpDirectory, "tmp-directory"},
    {LeftoverKind::SysvShm, "sysv-shm"},
    {LeftoverKind::SysvSem, "sysv-sem"},
    {LeftoverKind::SysvMsg, "sysv-msg"},
});

constexpr auto kKept = enumNames<Kept>({
    {Kept::LiveJob, "live-job"},
    {Kept::Processes, "processes"},
    {Kept::BirthUnknown, "birth-unknown"},
    {Kept::Older, "older"},
    {Kept::Changed, "changed"},
    {Kept::InUse, "in-use"},
    {Kept::Young, "young"},
    {Kept::Unseen, "unseen"},
    {Kept::Unknown, "unknown"},
    {Kept::NotRoot, "not-root"},
});

constexpr auto kReasons = enumNames<Kept>({
    {Kept::LiveJob, "its user has a live job"},
    {Kept::Processes, "its user has processes on this node"},
    {Kept::BirthUnknown, "its file system keeps no birth times"},
    {Kept::Older, "it contains files that are older than the job"},
    {Kept::Changed, "it was changed after the job's end"},
    {Kept::InUse, "a process uses it"},
    {Kept::Young, "the job has just ended"},
    {Kept::Unseen, "pinfold could not examine it"},
    {Kept::Unknown, "pinfold could not find out all it needs to know"},
    {Kept::NotRoot, "only root can tell whether it is in use"},
});

} // namespace

std::string_view toString(LeftoverKind kind) { return kKinds[kind]; }

std::string_view toString(Kept kept) { return kKept[kept]; }

std::string_view reason(Kept kept) { return kReasons[kept]; }

UserFile userFile(const std::string& directory, const DirectoryEntry& entry) {
    const bool memory = directory == kSharedMemory;
    UserFile file;
    if (entry.status.directory)
        file.kind = memory ? LeftoverKind::ShmDirectory : LeftoverKind::TmpDirectory;
    else
        file.kind = memory ? LeftoverKind::ShmFile : LeftoverKind::TmpFile;
    file.path = printable(directory + "/" + entry.name);
    file.uid = entry.status.uid;
    file.born = entry.status.born;
    file.tree = {.size = entry.status.size, .entries = 1, .oldest = entry.status.born, .touched = entry.status.touched};
    return file;
}

UserFile userFile(const IpcObject& object) {
    UserFile file;
    file.kind = object.kind == IpcKind::SharedMemory ? LeftoverKind::SysvShm
                : object.kind == IpcKind::Semaphores ? LeftoverKind::SysvSem
                                                     : LeftoverKind::SysvMsg;
    file.ipc = object;
    file.uid = object.uid;
    file.born = ofSeconds(object.changed);
    file.bornWithin = 1s - 1us;
    file.tree = {
        .size = object.size, .entries = 1, .oldest = file.born, .touched = ofSeconds(std::max(object.changed, object.used))};
    return file;
}

std::string nameOf(const UserFile& file) {
    if (!file.ipc)
        return file.path;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%d (key 0x%08x)", file.ipc->id, static_cast<unsigned>(file.ipc->key));
    return text.data();
}

EndedJobs::EndedJobs(std::vector<EndedJob> jobs) : jobs_(std::move(jobs)) {
    std::sort(jobs_.begin(), jobs_.end());
    jobs_.erase(std::unique(jobs_.begin(), jobs_.end()), jobs_.end());
    for (const auto& job : jobs_)
        ended_.push_back(ended_.empty() ? job.ended : std::max(ended_.back(), job.ended));
}

JobsOfFile EndedJobs::of(const UserFile& file) const {
    const auto first = file.born.value_or(file.tree.touched);
    const auto last = first + file.bornWithin;
    JobsOfFile found;
    std::deque<const EndedJob*> earliest;
    const auto begin =
        std::upper_bound(jobs_.begin(), jobs_.end(), last, [](auto time, const auto& job) { return time < job.started; });
    for (auto at = static_cast<std::size_t>(begin - jobs_.begin()); at > 0 && ended_[at - 1] >= first; --at)
        if (const auto& job = jobs_[at - 1]; job.ended >= first) {
            ++found.count;
            found.started = job.started;
            found.ended = std::max(found.ended, job.ended);
            earliest.push_front(&job);
            if (earliest.size() > JobsOfFile::kMostKeys)
                earliest.pop_back();
        }
    for (const auto* job : earliest)
        found.keys.push_back(job->key);
    return found;
}

std::optional<Kept> whyKept(const UserFile& file, const JobsOfFile& jobs, const LeftoverContext& context) {
    const std::pair<Kept, bool> reasons[] = {
        {Kept::LiveJob, context.liveJob},
        {Kept::Processes, context.processes},
        {Kept::BirthUnknown, context.seen && (!file.born || !file.tree.oldest)},
        {Kept::Older, file.tree.oldest && *file.tree.oldest + file.bornWithin < jobs.started},
        {Kept::Changed, file.tree.touched > jobs.ended + kMoment},
        {Kept::InUse, file.tree.inUse},
        {Kept::Young, context.now < jobs.ended + context.minAge},
        {Kept::Unseen, !context.seen},
        {Kept::Unknown, !context.complete},
        {Kept::NotRoot, !context.root},
    };
    for (const auto& [kept, isSo] : reasons)
        if (isSo)
            return kept;
    return std::nullopt;
}

} // namespace pinfold
