// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/replace_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace pinfold {

Result<void> replaceFile(const std::filesystem::path& file, std::string_view text, mode_t mode) {
    const auto temporary = file.parent_path() / ("." + file.filename().string() + ".tmp");
    const auto written = [&] {
        std::ofstream out(temporary, std::ios::trunc);
        return static_cast<bool>(out << text << std::flush);
    }();
    if (!written || ::chmod(temporary.c_str(), mode) != 0)
        return Error{ErrorCode::Internal, temporary.string() + ": " + std::strerror(errno)};
    if (std::rename(temporary.c_str(), file.c_str()) != 0)
        return Error{ErrorCode::Internal, file.string() + ": " + std::strerror(errno)};
    return {};
}

} // namespace pinfold
