// SPDX-License-Identifier: LGPL-2.1-or-later
// Files and System V IPC that ended jobs left on the node: whose they are, and why one is kept. Decisions only.
#pragma once

#include "os/shared_directory.hpp"
#include "os/sysv_ipc.hpp"

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

enum class LeftoverKind { ShmFile, ShmDirectory, TmpFile, TmpDirectory, SysvShm, SysvSem, SysvMsg };
std::string_view toString(LeftoverKind kind);

/// Something on the node that belongs to a user. Times are CLOCK_REALTIME microseconds.
struct UserFile {
    LeftoverKind kind = LeftoverKind::TmpFile;
    std::string path;                  ///< printable(); empty: IPC
    std::optional<IpcObject> ipc = {}; ///< unset: a file
    uid_t uid = 0;
    std::optional<std::uint64_t> born = {}; ///< unset: the file system doesn't say
    std::uint64_t bornWithin = 0;           ///< so much later it may have been: IPC's times are in whole seconds
    TreeSurvey tree = {};
};

UserFile userFile(const std::string& directory, const DirectoryEntry& entry);
UserFile userFile(const IpcObject& object);

/// The path; of IPC the id and the key, as ipcs(1) has them: "7 (key 0x0000002a)".
std::string nameOf(const UserFile& file);

struct EndedJob {
    std::uint64_t started = 0; ///< CLOCK_REALTIME, microseconds
    std::uint64_t ended = 0;
    std::string key;

    auto operator<=>(const EndedJob&) const = default;
};

/// The ended jobs in whose time a file was born. There may be thousands, of each of thousands of files.
struct JobsOfFile {
    static constexpr std::size_t kMostKeys = 20; ///< times of IPC are in seconds, and some short jobs run in one

    std::uint64_t started = 0; ///< the first start of one
    std::uint64_t ended = 0;   ///< the last end of one
    std::uint64_t count = 0;
    std::vector<std::string> keys = {}; ///< of those that started first

    bool operator==(const JobsOfFile&) const = default;
};

/// Of one user.
class EndedJobs {
public:
    /// In any order; twice is once.
    explicit EndedJobs(std::vector<EndedJob> jobs);

    /// In whose time the file was born. Of unknown birth: in whose time it was changed last.
    JobsOfFile of(const UserFile& file) const;

private:
    std::vector<EndedJob> jobs_;       ///< by start
    std::vector<std::uint64_t> ended_; ///< the latest end of a job and all before it
};

/// In this order; the first that is true is told.
enum class Kept {
    LiveJob,      ///< its user has one on this node
    Processes,    ///< its user has some on this node, of whatever kind
    BirthUnknown, ///< of it, or of something in it
    Older,        ///< something in it was born before the job began
    Changed,      ///< after the job's end
    InUse,        ///< by a process: open, mapped, attached, or its maker or last user lives
    Young,        ///< the job ended less than strays.file_min_age ago
    Unseen,       ///< a part of it could not be looked at
    Unknown,      ///< not all is known that would have to be
    NotRoot,      ///< only root knows what other users' processes have open
};
std::string_view toString(Kept kept); ///< "live-job": JSON, --parsable
std::string_view reason(Kept kept);   ///< "its user has a live job"

/// What is known of the rest of the node at the moment.
struct LeftoverContext {
    bool liveJob = false;   ///< of the file's user
    bool processes = false; ///< of the file's user
    bool seen = true;       ///< the file, all of it
    bool complete = true;   ///< what is known, of all jobs and all processes
    bool root = true;
    std::uint64_t now = 0;    ///< CLOCK_REALTIME, microseconds
    std::uint64_t minAge = 0; ///< microseconds since the job's end
};

/// A change so long after the job's end is the batch system's, or the clock's grain. Microseconds.
constexpr std::uint64_t kMoment = 2'000'000;

/// `jobs`: as EndedJobs::of() says; not none. nullopt: it may go.
std::optional<Kept> whyKept(const UserFile& file, const JobsOfFile& jobs, const LeftoverContext& context);

} // namespace pinfold
