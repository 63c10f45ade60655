// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace pinfold {

/// Runs a program and returns at most 1 MiB of the program's standard output. The program gets no input, and programOutput()
/// discards the program's standard error. When the time limit is over, programOutput() kills the program's process group. The
/// error is TimedOut if the time limit is over. The error is Internal if the program cannot be started, or if the program's exit
/// status is not 0.
Result<std::string> programOutput(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment, std::chrono::milliseconds time);

} // namespace pinfold
