// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/allocation.hpp"
#include "model/resource_limits.hpp"
#include "model/wrapper_protocol.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

struct RunOptions {
    std::string key; ///< empty: pinfoldd picks one
    bool inPlace = false;
    bool help = false;
    bool version = false;
    ResourceLimits limits;
    AllocationRequest allocation;
    WrapperRole role = WrapperRole::Job;
    std::optional<std::uint32_t> owner;
    std::optional<std::uint64_t> slots;
    bool shepherd = false;         ///< the command is a batch system's own process above the job
    char** command = nullptr;      ///< of main()'s argv, ended by a null pointer
    const char* program = nullptr; ///< what is executed as the command, where that isn't its first word
};

/// What pinfoldd is to be asked for.
WrapperCreate createRequest(const RunOptions& options);

/// argv[0] decides: under any other name than pinfold-run no argument is read as an option, all of them are the command.
/// Error: InvalidArgument, one line.
Result<RunOptions> parseRunOptions(int argc, char** argv);

std::string runUsage();

} // namespace pinfold
