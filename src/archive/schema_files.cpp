// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive/schema_files.hpp"

#include "base/escape.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace pinfold {

Result<std::vector<std::string>> readSchemaFiles(const std::string& directory) {
    std::vector<std::string> files;
    for (;;) {
        const auto path = fmt::format("{}/{:04}.sql", directory, files.size() + 1);
        std::error_code ignored;
        if (!files.empty() && !std::filesystem::exists(path, ignored))
            return files;
        std::ifstream file(path);
        std::string text(std::istreambuf_iterator<char>(file), {});
        if (!file || text.empty())
            return Error{
                ErrorCode::ConfigInvalid,
                fmt::format("cannot read '{}'; install the package pinfold-archive again, or correct --sql", printable(path))};
        files.push_back(std::move(text));
    }
}

} // namespace pinfold
