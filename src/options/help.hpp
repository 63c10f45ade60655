// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the text of --help from a table of options. The lines of the help text have at most 80 columns.
#pragma once

#include "options/option.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace pinfold {

/// Returns the usage line of a command, such as "pinfold stop [OPTIONS] JOB...".
std::string usageLine(const std::string& command, const OptionSet& options);

/// Returns the help texts of all arguments, and after them the help texts of all options. In the help text, an empty line and a
/// headline precede each group of arguments or options.
std::string optionsHelp(const OptionSet& options);

/// Returns the name and the help text of one option or argument. The help text begins at the column `column`.
std::string helpEntry(const std::string& name, std::string_view help, std::size_t column);

} // namespace pinfold
