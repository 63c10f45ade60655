// SPDX-License-Identifier: LGPL-2.1-or-later
// The code in config_values.cpp catches all exceptions of the library toml++.
#include "config/config_values.hpp"

#include "base/escape.hpp"
#include "config/config_files.hpp"

#include <toml++/toml.h>

#include <map>
#include <sstream>
#include <utility>

namespace pinfold {
namespace {

using Values = std::map<std::pair<std::string, std::string>, ConfigValue>;

void addSection(const std::filesystem::path& file, const std::string& section, const toml::table& keys, Values& values) {
    for (const auto& [key, value] : keys) {
        const std::string name(key.str());
        if (const auto* table = value.as_table()) { // a table inside a section is a device profile, [devices.NAME]
            addSection(file, section + "." + name, *table, values);
            continue;
        }
        std::ostringstream json;
        json << toml::json_formatter(value);
        values.insert_or_assign({section, name}, ConfigValue{section, name, json.str(), file, key.source().begin.line});
    }
}

void addFile(const std::filesystem::path& file, Values& values) {
    for (const auto& [section, keys] : toml::parse_file(file.string()))
        if (const auto* table = keys.as_table())
            addSection(file, std::string(section.str()), *table, values);
}

} // namespace

Result<std::vector<ConfigValue>> configValues(const ConfigPaths& paths) {
    Values values;
    for (const auto& file : configFiles(paths)) {
        try {
            addFile(file, values);
        } catch (const toml::parse_error& error) {
            return Error{ErrorCode::ConfigInvalid, file.string() + ": " + printable(error.description(), 300)};
        }
    }
    std::vector<ConfigValue> list;
    for (auto& [name, value] : values)
        list.push_back(std::move(value));
    return list;
}

} // namespace pinfold
