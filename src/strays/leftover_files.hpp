// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions in this file find out which job left a file or System V IPC object behind. The function whyKept() says why
// pinfold keeps the file or object. None of the functions in this file opens or removes a file or an IPC object.
#pragma once

#include "base/clock.hpp"
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

/// Describes a file or an IPC object that belongs to a user.
struct UserFile {
    LeftoverKind kind = LeftoverKind::TmpFile;
    std::string path;                  ///< the path of the file, made printable by printable(); empty for an IPC object
    std::optional<IpcObject> ipc = {}; ///< the IPC object; unset for a file
    uid_t uid = 0;
    std::optional<RealTime> born = {}; ///< the file's creation time; unset if the file system does not store this time
    /// The file was created at the time `born`, or at most `bornWithin` later. For an IPC object, the kernel gives the time only
    /// in whole seconds, so `bornWithin` is almost one second.
    Microseconds bornWithin{};
    TreeSurvey tree = {};
};

UserFile userFile(const std::string& directory, const DirectoryEntry& entry);
UserFile userFile(const IpcObject& object);

/// Returns the path of a file. For an IPC object, the result is the id and the key as ipcs(1) shows them, such as "7 (key
/// 0x0000002a)".
std::string nameOf(const UserFile& file);

struct EndedJob {
    RealTime started{}; ///< the time at which the job started
    RealTime ended{};
    std::string key;

    auto operator<=>(const EndedJob&) const = default; // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads the operator
};

/// Summarizes the ended jobs that ran when a file was created. JobsOfFile does not list all jobs, because there can be thousands
/// of files, and thousands of jobs for each file.
struct JobsOfFile {
    static constexpr std::size_t kMostKeys = 20; ///< several short jobs can run in the second in which an IPC object was created

    RealTime started{}; ///< the time at which the first of the jobs started
    RealTime ended{};   ///< the time at which the last of the jobs ended
    std::uint64_t count = 0;
    std::vector<std::string> keys = {}; ///< the keys of the kMostKeys jobs that started first, or of all jobs if there are fewer

    bool operator==(const JobsOfFile&) const = default;
};

/// Holds the ended jobs of one user.
class EndedJobs {
public:
    /// `jobs` can be in any order. EndedJobs counts a job once even if `jobs` contains the job twice.
    explicit EndedJobs(std::vector<EndedJob> jobs);

    /// Returns the jobs that ran when the file was created. If nobody knows when the file was created, the result contains the
    /// jobs that ran when the file was last changed.
    JobsOfFile of(const UserFile& file) const;

private:
    std::vector<EndedJob> jobs_;  ///< the jobs in the order of their start
    std::vector<RealTime> ended_; ///< element i is the latest time at which one of the jobs jobs_[0] to jobs_[i] ended
};

/// Lists the reasons to keep a file. If several reasons apply, whyKept() returns the reason that comes first in Kept.
enum class Kept {
    LiveJob,      ///< the file's user has a live job on this node
    Processes,    ///< the file's user has processes of any kind on this node
    BirthUnknown, ///< pinfold does not know when the file, or a file inside the directory, was created
    Older,        ///< the file, or a file inside the directory, was created before the job began
    Changed,      ///< somebody changed the file after the job's end
    InUse,        ///< a living process uses the file or the IPC object
    Young,        ///< the job ended less than strays.file_min_age ago
    Unseen,       ///< pinfold could not examine all parts of the file or tree
    Unknown,      ///< pinfold does not know all facts that it needs for the decision
    NotRoot,      ///< this process is not root, and only root can see which files other users' processes have open
};
std::string_view toString(Kept kept); ///< returns a word for JSON, such as "live-job"
std::string_view reason(Kept kept);   ///< returns the reason as a text for people

/// LeftoverContext holds facts about jobs, processes and time. whyKept() uses a LeftoverContext to decide whether pinfold keeps a
/// file.
struct LeftoverContext {
    bool liveJob = false;   ///< the file's user has a live job
    bool processes = false; ///< the file's user has processes on this node
    bool seen = true;       ///< pinfold could examine all parts of the file or tree
    bool complete = true;   ///< pinfold knows all jobs and all processes
    bool root = true;
    RealTime now{};
    Microseconds minAge{}; ///< the time that must pass between the job's end and the removal
};

/// pinfold ignores a change of a file if the change comes within the time kMoment after the job's end. The batch system can
/// change a file right after the job's end. If a clock is coarse, a change during the job can seem to come after the job's end.
constexpr Microseconds kMoment = 2s;

/// Returns the reason to keep the file. Returns nullopt if pinfold is allowed to remove the file. `jobs` is the result of
/// EndedJobs::of(), and must not be empty.
std::optional<Kept> whyKept(const UserFile& file, const JobsOfFile& jobs, const LeftoverContext& context);

} // namespace pinfold
