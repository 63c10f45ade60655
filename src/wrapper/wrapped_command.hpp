// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/wrapper_protocol.hpp"

namespace pinfold {

/// Describes a command that becomes a job, or a part of a job.
struct WrappedCommand {
    WrapperCreate request;         ///< what pinfoldd is asked for
    char** command = nullptr;      ///< ended by a null pointer
    const char* program = nullptr; ///< the program to execute, if that is not the command's first word
};

} // namespace pinfold
