// SPDX-License-Identifier: LGPL-2.1-or-later
// What --help prints of a table of options, on 80 columns.
#pragma once

#include "options/option.hpp"

#include <cstddef>
#include <string>

namespace pinfold {

/// "pinfold stop [OPTIONS] JOB..."
std::string usageLine(const std::string& command, const OptionSet& options);

/// The arguments, then the options, each group below its headline and after an empty line.
std::string optionsHelp(const OptionSet& options);

/// One entry: the name, and its help from this column on.
std::string helpEntry(const std::string& name, const std::string& help, std::size_t column);

} // namespace pinfold
