// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/leftover_search.hpp"

#include "base/clock.hpp"
#include "base/message_ids.hpp"
#include "os/open_files.hpp"

#include <fmt/core.h>

#include <syslog.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

namespace pinfold {
namespace {

// pinfold reads the list of the open and mapped files of a process for at most kPatience. Even on a busy node, pinfold reads the
// usual maximum of 65,530 mappings of a process in less than five seconds.
constexpr std::chrono::seconds kPatience{5};

void logRemoval(Journal& journal, const LeftoverFile& leftover) {
    const auto& file = leftover.file;
    JournalEvent event;
    event.priority = leftover.removed ? LOG_INFO : LOG_WARNING;
    event.messageId = kMessageLeftoverRemoved;
    event.message =
        fmt::format("{} {} {}{}{}", toString(file.kind), nameOf(file),
                    leftover.removed ? "was left behind by an ended job, and pinfold removed it" : "cannot be removed",
                    leftover.error ? ": " + *leftover.error : "",
                    leftover.others > 0 ? fmt::format("; {} entries of other users stay", leftover.others) : "");
    event.fields = {{"PINFOLD_EVENT", leftover.removed ? "leftover-removed" : "leftover-not-removed"},
                    {"PINFOLD_LEFTOVER_FILE_KIND", std::string(toString(file.kind))},
                    {"PINFOLD_LEFTOVER_FILE_NAME", nameOf(file)},
                    {"PINFOLD_LEFTOVER_FILE_UID", std::to_string(file.uid)},
                    {"PINFOLD_LEFTOVER_FILE_SIZE", std::to_string(file.tree.size)},
                    {"PINFOLD_LEFTOVER_FILE_ENTRIES", std::to_string(file.tree.entries)}};
    event.fields.emplace_back("PINFOLD_LEFTOVER_FILE_JOBS", std::to_string(leftover.jobs.count));
    for (const auto& job : leftover.jobs.keys)
        event.fields.emplace_back("PINFOLD_JOB", job);
    journal.event(event);
}

class Searcher {
public:
    Searcher(const LeftoverRules& rules, const LeftoverSources& sources, Journal* journal)
        : rules_(rules), sources_(sources), journal_(journal), looks_(kPatience, rules.subordinates) {
        for (const auto& doubt : rules.doubts)
            addGap({}, doubt);
    }

    LeftoverListing run() {
        findFiles();
        findIpc();
        bool known = false;
        for (auto& [uid, candidates] : found_) {
            keepLeftovers(uid, candidates);
            if (candidates.empty())
                continue;
            // Before pinfold removes a user's files, it looks at jobs and processes again. The removal of one user's files can
            // take so long that the facts about the next user are out of date.
            if (!known || journal_)
                lookAround();
            known = true;
            for (auto& candidate : candidates)
                judge(candidate);
            // pinfold judges all candidates before it removes the first candidate. A file can have several names (hard links). If
            // pinfold removes one name, the file's ctime changes, and pinfold would keep the other names as changed files.
            for (auto& candidate : candidates) {
                if (journal_ && !candidate.leftover.kept)
                    remove(candidate);
                listing_.files.push_back(std::move(candidate.leftover));
            }
        }
        return std::move(listing_);
    }

private:
    struct Candidate {
        explicit Candidate(UserFile file) { leftover.file = std::move(file); }
        Candidate(const SharedDirectory& in, DirectoryEntry which) : Candidate(userFile(in.path().string(), which)) {
            directory = &in;
            entry = std::move(which);
        }

        LeftoverFile leftover;
        const SharedDirectory* directory = nullptr; ///< the directory of the file; null for an IPC object
        DirectoryEntry entry;
    };

    void addGap(std::optional<uid_t> user, const std::string& what) {
        LeftoverGap gap{user, what};
        if (std::find(listing_.gaps.begin(), listing_.gaps.end(), gap) == listing_.gaps.end())
            listing_.gaps.push_back(std::move(gap));
    }
    template <class T> T orGap(Result<T> result, std::optional<uid_t> user = {}) {
        if (result)
            return std::move(*result);
        addGap(user, result.error().message);
        return {};
    }
    bool allIsKnownFor(uid_t uid) const {
        return std::none_of(listing_.gaps.begin(), listing_.gaps.end(),
                            [uid](const LeftoverGap& gap) { return gap.user.value_or(uid) == uid; });
    }

    void findFiles() {
        for (const auto& path : rules_.directories) {
            std::error_code error;
            if (!std::filesystem::exists(path, error) && !error)
                continue;
            auto opened = SharedDirectory::open(path);
            if (!opened) {
                orGap(Result<int>(opened.error()));
                continue;
            }
            directories_.push_back(std::make_unique<SharedDirectory>(std::move(*opened)));
            const auto& directory = *directories_.back();
            for (const auto& entry : orGap(directory.entries()))
                if (rules_.ordinary(entry.status.uid))
                    found_[entry.status.uid].emplace_back(directory, entry);
        }
    }

    void findIpc() {
        for (const auto& object : orGap(listIpcObjects()))
            // If one user created the object and gave it to another user, pinfold cannot know who owns the object. The search
            // leaves out an object if the object's owner and creator differ.
            if (rules_.ordinary(object.uid) && object.creator == object.uid)
                found_[object.uid].emplace_back(userFile(object));
    }

    /// Removes from `candidates` all files that no job of the user left behind, and sorts the remaining candidates by kind and
    /// name.
    void keepLeftovers(uid_t uid, std::vector<Candidate>& candidates) {
        auto oldest = RealTime::max();
        for (const auto& candidate : candidates)
            oldest = std::min(oldest, candidate.leftover.file.born.value_or(candidate.leftover.file.tree.touched));
        const EndedJobs jobs(orGap(sources_.endedJobs(uid, oldest), uid));
        for (auto& candidate : candidates)
            candidate.leftover.jobs = jobs.of(candidate.leftover.file);
        std::erase_if(candidates, [](const auto& candidate) { return candidate.leftover.jobs.count == 0; });
        std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
            return std::pair(a.leftover.file.kind, nameOf(a.leftover.file)) <
                   std::pair(b.leftover.file.kind, nameOf(b.leftover.file));
        });
    }

    void lookAround() {
        liveUsers_ = orGap(sources_.usersWithLiveJobs());
        inhabitants_ = orGap(listInhabitants());
        if (!rules_.root)
            return;
        std::set<std::uint64_t> devices;
        for (const auto& directory : directories_)
            devices.insert(directory->device());
        auto inUse = orGap(filesInUse(devices, looks_));
        // If pinfold cannot see which files a process has open, pinfold keeps all files of the process's user. If the process
        // runs as root, pinfold keeps the files of all users. pinfold keeps all files of each user who has processes on the node.
        // A process that has another user's file open can still read the file after pinfold has removed the file.
        for (const auto& [uid, why] : inUse.unseen)
            addGap(uid != 0 ? std::optional(uid) : std::nullopt, why);
        inUse_ = std::move(inUse.files);
    }

    void judge(Candidate& candidate) {
        auto& leftover = candidate.leftover;
        const auto seen = survey(candidate);
        if (!seen)
            leftover.error = seen.error().message;
        const auto uid = leftover.file.uid;
        leftover.kept = whyKept(leftover.file, leftover.jobs,
                                {.liveJob = liveUsers_.contains(uid),
                                 .processes = inhabitants_.users.contains(uid),
                                 .seen = static_cast<bool>(seen),
                                 .complete = allIsKnownFor(uid),
                                 .root = rules_.root,
                                 .now = RealClock::now(),
                                 .minAge = rules_.minAge});
    }

    Result<void> survey(Candidate& candidate) {
        auto& file = candidate.leftover.file;
        if (file.ipc)
            return surveyIpc(file);
        auto tree = candidate.directory->survey(candidate.entry, [this](const FileId& id) { return inUse_.contains(id); });
        if (!tree)
            return tree.error();
        file.tree = *tree;
        candidate.leftover.others = tree->others;
        return {};
    }

    Result<void> surveyIpc(UserFile& file) {
        auto pids = file.ipc->pids;
        if (file.ipc->kind == IpcKind::Semaphores) {
            auto users = semaphoreUsers(*file.ipc);
            if (!users)
                return users.error();
            pids = std::move(*users);
        }
        file.tree.inUse = file.ipc->attachments > 0 || std::any_of(pids.begin(), pids.end(), [this](pid_t pid) {
                              return pid == 0 || inhabitants_.pids.contains(pid);
                          });
        return {};
    }

    void remove(Candidate& candidate) {
        auto& leftover = candidate.leftover;
        Result<TreeRemoval> done = TreeRemoval{};
        if (candidate.directory)
            done = candidate.directory->remove(candidate.entry);
        else if (auto removed = removeIpcObject(*leftover.file.ipc); !removed)
            done = removed.error();
        leftover.removed = static_cast<bool>(done);
        if (!done)
            leftover.error = done.error().message;
        logRemoval(*journal_, leftover);
    }

    const LeftoverRules& rules_;
    const LeftoverSources& sources_;
    Journal* journal_;
    /// The search uses one ProcessLooks object for all processes, because the object counts how many reads of /proc hang.
    ProcessLooks looks_;
    LeftoverListing listing_;
    std::vector<std::unique_ptr<SharedDirectory>> directories_;
    std::map<uid_t, std::vector<Candidate>> found_;
    std::set<uid_t> liveUsers_;
    Inhabitants inhabitants_;
    std::set<FileId> inUse_;
};

} // namespace

LeftoverListing searchLeftovers(const LeftoverRules& rules, const LeftoverSources& sources, Journal* journal) {
    return Searcher(rules, sources, journal).run();
}

} // namespace pinfold
