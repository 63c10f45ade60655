// SPDX-License-Identifier: LGPL-2.1-or-later
// Files and System V IPC objects that ended jobs left on the node: to whom they belong, and why one is kept. This file only
// decides.
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
    std::string path;                  ///< printable(); empty: it is an IPC object
    std::optional<IpcObject> ipc = {}; ///< unset: it is a file
    uid_t uid = 0;
    std::optional<std::uint64_t> born = {}; ///< unset: the file system does not say
    std::uint64_t bornWithin =
        0; ///< it was born within so many microseconds after `born`: the times of IPC objects are whole seconds
    TreeSurvey tree = {};
};

UserFile userFile(const std::string& directory, const DirectoryEntry& entry);
UserFile userFile(const IpcObject& object);

/// The path. For an IPC object the id and the key, as ipcs(1) shows them: "7 (key 0x0000002a)".
std::string nameOf(const UserFile& file);

struct EndedJob {
    std::uint64_t started = 0; ///< CLOCK_REALTIME, microseconds
    std::uint64_t ended = 0;
    std::string key;

    auto operator<=>(const EndedJob&) const = default; // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads the operator
};

/// The ended jobs that ran when a file was born. There may be thousands of files with thousands of jobs each.
struct JobsOfFile {
    static constexpr std::size_t kMostKeys = 20; ///< several short jobs may run in the second in which an IPC object was made

    std::uint64_t started = 0; ///< the first start of these jobs
    std::uint64_t ended = 0;   ///< the last end of these jobs
    std::uint64_t count = 0;
    std::vector<std::string> keys = {}; ///< the keys of the jobs that started first

    bool operator==(const JobsOfFile&) const = default;
};

/// The ended jobs of one user.
class EndedJobs {
public:
    /// `jobs` may be in any order. A job that is in it twice counts once.
    explicit EndedJobs(std::vector<EndedJob> jobs);

    /// The jobs that ran when the file was born. If the birth is not known, the jobs that ran when the file was changed last.
    JobsOfFile of(const UserFile& file) const;

private:
    std::vector<EndedJob> jobs_;       ///< by start
    std::vector<std::uint64_t> ended_; ///< the latest end of a job and all before it
};

/// Why something is kept. The first of these reasons that holds is reported.
enum class Kept {
    LiveJob,      ///< its user has a live job on this node
    Processes,    ///< its user has processes on this node, of whatever kind
    BirthUnknown, ///< its birth, or that of something in it, is not known
    Older,        ///< something in it was born before the job began
    Changed,      ///< it was changed after the job's end
    InUse,        ///< a process has it open, mapped or attached, or its maker or last user lives
    Young,        ///< the job ended less than strays.file_min_age ago
    Unseen,       ///< a part of it could not be looked at
    Unknown,      ///< not everything is known that must be known
    NotRoot,      ///< this process is not root, and only root knows what other users' processes have open
};
std::string_view toString(Kept kept); ///< "live-job": JSON
std::string_view reason(Kept kept);   ///< "its user has a live job"

/// What is known about the rest of the node at the moment.
struct LeftoverContext {
    bool liveJob = false;   ///< the file's user has a live job
    bool processes = false; ///< the file's user has processes
    bool seen = true;       ///< the whole file or tree could be looked at
    bool complete = true;   ///< all jobs and all processes are known
    bool root = true;
    std::uint64_t now = 0;    ///< CLOCK_REALTIME, microseconds
    std::uint64_t minAge = 0; ///< microseconds since the job's end
};

/// Microseconds. A change within this time after the job's end comes from the batch system, or from the grain of the clock.
constexpr std::uint64_t kMoment = 2'000'000;

/// Why the file is kept. `jobs`: the result of EndedJobs::of(), which must not be empty. nullopt: the file may be removed.
std::optional<Kept> whyKept(const UserFile& file, const JobsOfFile& jobs, const LeftoverContext& context);

} // namespace pinfold
