// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace pinfold::test {

/// Makes a temporary directory before the test, and removes the directory after the test.
class TemporaryDirectory : public ::testing::Test {
protected:
    TemporaryDirectory() {
        auto name = (std::filesystem::temp_directory_path() / "pinfold-os-XXXXXX").string();
        top_ = ::mkdtemp(name.data());
    }
    ~TemporaryDirectory() override { std::filesystem::remove_all(top_); }

    const std::filesystem::path& top() const { return top_; }

    std::filesystem::path write(const std::filesystem::path& file, std::string_view text) const {
        std::filesystem::create_directories((top_ / file).parent_path());
        std::ofstream(top_ / file, std::ios::binary) << text;
        return top_ / file;
    }
    static std::string modeOf(const std::filesystem::path& file) {
        struct stat status {};
        EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
        constexpr std::string_view digits = "01234567";
        std::string mode;
        for (int shift = 6; shift >= 0; shift -= 3)
            mode += digits[(status.st_mode >> shift) & 7];
        return mode;
    }

private:
    std::filesystem::path top_;
};

} // namespace pinfold::test
