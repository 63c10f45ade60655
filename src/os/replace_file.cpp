// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/replace_file.hpp"

#include "base/unique_fd.hpp"
#include "os/file_error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace pinfold {
namespace {

UniqueFd createAnew(const std::filesystem::path& file, mode_t mode) {
    const auto create = [&] { return UniqueFd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)); };
    auto fd = create();
    if (!fd && errno == EEXIST && ::unlink(file.c_str()) == 0) // a process crashed before it renamed this temporary file
        fd = create();
    return fd;
}

bool writeAll(int fd, std::string_view text) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written >= 0 && written < static_cast<ssize_t>(text.size()))
        errno = ENOSPC; // if write(2) writes only a part of the text, write(2) does not set errno
    return written == static_cast<ssize_t>(text.size());
}

Result<void> replace(const std::filesystem::path& file, std::string_view text, mode_t mode, bool durable) {
    const auto temporary = file.parent_path() / ("." + file.filename().string() + std::string(kTemporarySuffix));
    const auto fd = createAnew(temporary, mode);
    if (!fd)
        return fileError(temporary);
    if (::fchmod(fd.get(), mode) == 0 && writeAll(fd.get(), text) && (!durable || ::fsync(fd.get()) == 0) &&
        std::rename(temporary.c_str(), file.c_str()) == 0)
        return {};
    auto error = fileError(file);
    ::unlink(temporary.c_str());
    return error;
}

/// Makes sure that a rename or removal in the file's directory is on the disk.
Result<void> syncDirectoryOf(const std::filesystem::path& file) {
    const UniqueFd directory(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory || ::fsync(directory.get()) != 0)
        return fileError(file.parent_path());
    return {};
}

} // namespace

Result<void> replaceFile(const std::filesystem::path& file, std::string_view text, mode_t mode) {
    return replace(file, text, mode, false);
}

Result<void> replaceFileDurably(const std::filesystem::path& file, std::string_view text, mode_t mode) {
    auto replaced = replace(file, text, mode, true);
    return replaced ? syncDirectoryOf(file) : replaced;
}

Result<void> removeFileDurably(const std::filesystem::path& file) {
    if (::unlink(file.c_str()) != 0)
        return errno == ENOENT ? Result<void>() : Result<void>(fileError(file));
    return syncDirectoryOf(file);
}

} // namespace pinfold
