// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/config_files.hpp"

#include "base/paths.hpp"

#include <array>
#include <map>

namespace pinfold {
namespace {

constexpr const char* kMainFile = "pinfold.toml";
constexpr const char* kDropIns = "pinfold.toml.d";

bool masked(const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::is_symlink(file, error) && std::filesystem::read_symlink(file, error) == "/dev/null";
}

bool present(const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::exists(std::filesystem::symlink_status(file, error));
}

} // namespace

ConfigPaths ConfigPaths::below(const std::filesystem::path& root) {
    const ConfigPaths here;
    return {inRoot(root, here.vendor), inRoot(root, here.runtime), inRoot(root, here.admin)};
}

std::vector<std::filesystem::path> configFiles(const ConfigPaths& paths) {
    const std::array lowestFirst{paths.vendor, paths.runtime, paths.admin};
    std::filesystem::path main;
    std::map<std::string, std::filesystem::path> dropIns;
    for (const auto& directory : lowestFirst) {
        if (present(directory / kMainFile))
            main = directory / kMainFile;
        std::error_code absent;
        for (const auto& entry : std::filesystem::directory_iterator(directory / kDropIns, absent))
            // The names of editors' lock files begin with a dot, so configFiles() skips files whose names begin with a dot.
            if (entry.path().extension() == ".toml" && !entry.path().filename().string().starts_with('.'))
                dropIns[entry.path().filename().string()] = entry.path();
    }
    std::vector<std::filesystem::path> files;
    if (!main.empty() && !masked(main))
        files.push_back(main);
    for (const auto& [name, path] : dropIns)
        if (!masked(path))
            files.push_back(path);
    return files;
}

} // namespace pinfold
