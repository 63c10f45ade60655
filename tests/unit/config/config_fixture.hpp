// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace pinfold {

namespace fs = std::filesystem;

inline constexpr const char* kVendor = "usr/lib/pinfold/";
inline constexpr const char* kRuntime = "run/pinfold/";
inline constexpr const char* kAdmin = "etc/pinfold/";

class ConfigTest : public ::testing::Test {
protected:
    ConfigTest() {
        auto name = (fs::temp_directory_path() / "pinfold-config-XXXXXX").string();
        root_ = ::mkdtemp(name.data());
    }
    ~ConfigTest() override { fs::remove_all(root_); }

    fs::path write(const fs::path& file, std::string_view text) {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file, std::ios::binary) << text;
        return root_ / file;
    }
    void mask(const fs::path& file) {
        fs::create_directories((root_ / file).parent_path());
        fs::create_symlink("/dev/null", root_ / file);
    }
    Result<LoadedConfig> load() const { return loadConfig(ConfigPaths::below(root_)); }

    /// Loads `text` as the administrator's main file, which must be valid.
    LoadedConfig loaded(std::string_view text) {
        write(mainFile(), text);
        return loaded();
    }
    LoadedConfig loaded() {
        auto result = load();
        EXPECT_TRUE(result) << result.error().message;
        return result ? *std::move(result) : LoadedConfig{};
    }
    /// Writes `text` to the administrator's main configuration file, and loads the configuration. Returns the message of the
    /// error, without the file's name.
    std::string errorOf(std::string_view text) {
        const auto file = write(mainFile(), text);
        const auto result = load();
        if (result) {
            ADD_FAILURE() << "accepted: " << text;
            return "";
        }
        EXPECT_EQ(result.error().code, ErrorCode::ConfigInvalid);
        EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
        const auto prefix = file.string() + ":";
        EXPECT_TRUE(result.error().message.starts_with(prefix)) << result.error().message;
        return result.error().message.substr(std::min(prefix.size(), result.error().message.size()));
    }
    static std::string mainFile() { return std::string(kAdmin) + "pinfold.toml"; }
    static std::string dropIn(const char* directory, const char* name) {
        return std::string(directory) + "pinfold.toml.d/" + name;
    }

    fs::path root_;
};

} // namespace pinfold
