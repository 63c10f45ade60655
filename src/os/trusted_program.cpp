// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/trusted_program.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace pinfold {
namespace {

Error wrong(const std::filesystem::path& path, const std::string& why) {
    return {ErrorCode::ConfigInvalid, path.string() + ": " + why};
}

Result<void> onlyRootWrites(const std::filesystem::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0)
        return wrong(path, std::strerror(errno));
    if (status.st_uid != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return wrong(path, "users other than root may write to it: chown root, chmod go-w");
    return {};
}

} // namespace

Result<std::filesystem::path> trustedProgram(const std::filesystem::path& program) {
    std::error_code error;
    const auto real = std::filesystem::canonical(program, error);
    if (error)
        return wrong(program, error.message());
    struct stat status {};
    if (::stat(real.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || (status.st_mode & S_IXUSR) == 0)
        return wrong(real, "it is not an executable file");
    for (auto path = real; path != path.parent_path(); path = path.parent_path())
        if (auto trusted = onlyRootWrites(path); !trusted)
            return trusted.error();
    return real;
}

} // namespace pinfold
