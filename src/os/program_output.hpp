// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace pinfold {

/// What a program prints on its standard output, at most 1 MiB of it. It gets no input, and what it says on standard error is
/// thrown away. Its process group is killed when the time is over. Errors: TimedOut; Internal, when it can't be started or ends
/// otherwise than with status 0.
Result<std::string> programOutput(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment, std::chrono::milliseconds time);

} // namespace pinfold
