// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/wrapper_protocol.hpp"

namespace pinfold {

/// Describes a command that runs as a job or as a task of a job.
struct WrappedCommand {
    WrapperCreate request;         ///< the request to pinfoldd
    char** command = nullptr;      ///< the words of the command, with a null pointer at the end
    const char* program = nullptr; ///< the program to execute; nullptr if the first word of the command is the program
};

} // namespace pinfold
