// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace pinfold {

/// Returns the error of a call that got `path` as an argument, and has just failed and set errno.
inline Error fileError(const std::filesystem::path& path) {
    return {ErrorCode::Internal, path.string() + ": " + std::strerror(errno)};
}

} // namespace pinfold
