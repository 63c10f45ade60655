// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace pinfold {

/// Returns the error for a failed call with the argument `path`. Call fileError() right after the failed call, because
/// fileError() reads errno.
inline Error fileError(const std::filesystem::path& path) {
    return {ErrorCode::Internal, path.string() + ": " + std::strerror(errno)};
}

} // namespace pinfold
