// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Reads the files 0001.sql, 0002.sql and so on of a directory. File N upgrades the archive's tables from version N - 1 to
/// version N. The error is ConfigInvalid if a file cannot be read, or if the directory has no file 0001.sql.
Result<std::vector<std::string>> readSchemaFiles(const std::string& directory);

} // namespace pinfold
