// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/shared_directory.hpp"

#include "os/file_error.hpp"
#include "os/owner_rights.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace pinfold {
namespace {

UniqueFd openDirectory(int parent, const char* name) {
    return UniqueFd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

/// Reads the names in an open directory, one after the other. Between the calls of next(), somebody can remove entries of the
/// directory.
class Names {
public:
    explicit Names(int directory) {
        auto own = openDirectory(directory, ".");
        if (own)
            stream_.reset(::fdopendir(own.get()));
        if (stream_)
            (void)own.release();
    }
    bool opened() const { return stream_ != nullptr; }
    /// Returns the next name. At the end of the directory, next() returns nullptr and sets errno to 0. After an error, next()
    /// returns nullptr and sets errno to the error.
    const char* next() {
        while (true) {
            errno = 0;
            const auto* entry = ::readdir(stream_.get());
            if (!entry || (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0))
                return entry ? entry->d_name : nullptr;
        }
    }

private:
    struct Close {
        void operator()(DIR* stream) const { ::closedir(stream); }
    };
    std::unique_ptr<DIR, Close> stream_;
};

using Visit = std::function<Result<void>(int parent, const char* name, const FileStatus& status)>;

/// Walks through a directory tree. Both survey() and remove() use Walk.
struct Walk {
    uid_t uid;
    std::uint64_t device;
    std::filesystem::path path; ///< the path of the entry, for messages only

    /// Calls `visit` for each entry that belongs to the user. below() visits a directory after all entries in the directory. If
    /// `visit` returns an error, below() ends.
    Result<void> below(int directory, unsigned depth, std::uint64_t& others, const Visit& visit) const {
        Names names(directory);
        if (!names.opened())
            return fileError(path);
        if (depth > SharedDirectory::kMostDepth)
            return Error{ErrorCode::Internal, path.string() + ": its directories are nested more than " +
                                                  std::to_string(SharedDirectory::kMostDepth) + " deep"};
        while (const auto* name = names.next()) {
            const auto status = fileStatus(directory, name);
            if (!status && errno == ENOENT)
                continue;
            if (!status)
                return fileError(path);
            if (status->uid != uid || status->mountPoint || status->id.device != device) {
                ++others;
                continue;
            }
            if (status->directory)
                if (auto entered = enter(directory, name, *status, depth, others, visit); !entered)
                    return entered;
            if (auto visited = visit(directory, name, *status); !visited)
                return visited;
        }
        return errno == 0 ? Result<void>() : fileError(path);
    }

    Result<void> enter(int parent, const char* name, const FileStatus& expected, unsigned depth, std::uint64_t& others,
                       const Visit& visit) const {
        const auto directory = openDirectory(parent, name);
        const auto status = directory ? fileStatus(directory.get(), "") : std::nullopt;
        if (!status)
            return fileError(path);
        if (status->id != expected.id || status->uid != uid || status->mountPoint)
            return Error{ErrorCode::Busy, path.string() + " changes while pinfold examines it"};
        return below(directory.get(), depth + 1, others, visit);
    }
};

/// Uses the rights of the entry's owner to remove the entry. In a sticky directory, the kernel lets users remove only their own
/// entries.
bool unlinkAsOwner(int parent, const char* name, const FileStatus& status) {
    const FileRightsOf owner(status.uid);
    if (!owner.held()) {
        errno = EPERM;
        return false;
    }
    const auto unlinked = [&] { return ::unlinkat(parent, name, status.directory ? AT_REMOVEDIR : 0) == 0; };
    // In package caches, many directories are read-only even for their owners. The kernel lets the owner of a directory add the
    // missing write permission with fchmod(2).
    return unlinked() || (errno == EACCES && ::fchmod(parent, S_IRWXU) == 0 && unlinked());
}

} // namespace

Result<SharedDirectory> SharedDirectory::open(const std::filesystem::path& path) {
    auto directory = openDirectory(AT_FDCWD, path.c_str());
    struct stat status {};
    if (!directory || ::fstat(directory.get(), &status) != 0)
        return fileError(path);
    const bool othersWrite = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if ((status.st_uid != 0 && status.st_uid != ::geteuid()) || (othersWrite && (status.st_mode & S_ISVTX) == 0))
        return Error{ErrorCode::ConfigInvalid,
                     path.string() + ": users other than root can rename files in it: chown root, chmod +t, or remove it from " +
                         "strays.file_directories"};
    const auto own = fileStatus(directory.get(), "");
    return own ? SharedDirectory(path, std::move(directory), own->id.device) : Result<SharedDirectory>(fileError(path));
}

Result<std::vector<DirectoryEntry>> SharedDirectory::entries() const {
    Names names(directory_.get());
    if (!names.opened())
        return fileError(path_);
    std::vector<DirectoryEntry> entries;
    while (const auto* name = names.next())
        if (const auto status = fileStatus(directory_.get(), name); status && !status->mountPoint)
            entries.push_back({name, *status});
    if (errno != 0)
        return fileError(path_);
    return entries;
}

Result<TreeSurvey> SharedDirectory::survey(const DirectoryEntry& entry, const std::function<bool(const FileId&)>& inUse) const {
    TreeSurvey survey;
    survey.oldest = entry.status.born;
    const auto add = [&](int, const char*, const FileStatus& status) -> Result<void> {
        survey.size += status.size;
        ++survey.entries;
        survey.oldest = survey.oldest && status.born ? std::optional(std::min(*survey.oldest, *status.born)) : std::nullopt;
        survey.touched = std::max(survey.touched, status.touched);
        survey.inUse = survey.inUse || inUse(status.id);
        return {};
    };
    const Walk walk{entry.status.uid, device_, path_ / entry.name};
    if (entry.status.directory)
        if (auto walked = walk.enter(directory_.get(), entry.name.c_str(), entry.status, 0, survey.others, add); !walked)
            return walked.error();
    (void)add(directory_.get(), entry.name.c_str(), entry.status);
    return survey;
}

Result<TreeRemoval> SharedDirectory::remove(const DirectoryEntry& entry) const {
    const auto now = fileStatus(directory_.get(), entry.name.c_str());
    if (!now || !now->unchanged(entry.status))
        return Error{ErrorCode::Busy, "it has changed since it was listed"};
    TreeRemoval removal;
    const Walk walk{entry.status.uid, device_, path_ / entry.name};
    const auto take = [&](int parent, const char* name, const FileStatus& status) -> Result<void> {
        if (unlinkAsOwner(parent, name, status)) {
            removal.size += status.size;
            ++removal.entries;
            return {};
        }
        // If a directory contains files of other users, remove() does not remove the directory, and reports no error.
        return (errno == ENOTEMPTY || errno == EEXIST) && removal.others > 0 ? Result<void>() : fileError(walk.path);
    };
    if (entry.status.directory)
        if (auto walked = walk.enter(directory_.get(), entry.name.c_str(), entry.status, 0, removal.others, take); !walked)
            return walked.error();
    if (auto taken = take(directory_.get(), entry.name.c_str(), entry.status); !taken)
        return taken.error();
    return removal;
}

} // namespace pinfold
