// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the text that --help prints for a table of options, in 80 columns.
#pragma once

#include "options/option.hpp"

#include <cstddef>
#include <string>

namespace pinfold {

/// Returns a line such as "pinfold stop [OPTIONS] JOB...".
std::string usageLine(const std::string& command, const OptionSet& options);

/// Returns the help of the arguments, and then that of the options. Each group has an empty line and a headline before it.
std::string optionsHelp(const OptionSet& options);

/// Returns one entry: the name, and the help text from `column` on.
std::string helpEntry(const std::string& name, const std::string& help, std::size_t column);

} // namespace pinfold
