// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/memory_maps.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pinfold::test {
namespace {

constexpr std::uint64_t kDisk = std::uint64_t{0xfe} << 32;
using Files = std::set<FileId>;

TEST(MemoryMaps, haveTheFilesOfTheWantedDevices) {
    const std::string text = "55d0c8a2e000-55d0c8a30000 r--p 00000000 fe:00 1310842                    /usr/bin/cat\n"
                             "7f00-7f01 rw-s 00000000 08:11 9     /with a name 1 2 3:4 5\n"
                             "7f02-7f03 rw-p 00000000 00:00 0 [heap]\n"
                             "7f04-7f05 r-xp 00000000 fe:00 18446744073709551615 /" +
                             std::string(5000, 'x') + "\n";
    EXPECT_EQ(mappedFiles(text, {kDisk}), (Files{{kDisk, 1310842}, {kDisk, UINT64_MAX}}));
    EXPECT_EQ(mappedFiles(text, {std::uint64_t{8} << 32 | 0x11}), (Files{{std::uint64_t{8} << 32 | 0x11, 9}}));
    EXPECT_EQ(mappedFiles("", {kDisk}), Files{});
}

TEST(MemoryMaps, ofAnotherFormAreRefused) {
    for (const char* line : {"\n", "no map\n", "1-2 r--p 0 fe:00\n", "1-2 r--p 0 fe00 7\n", "1-2 r--p 0 fe: 7\n",
                             "1-2 r--p 0 :0 7\n", "1-2 r--p 0 fe:00 x\n", "1-2 r--p 0 fe:00 -7\n", "1-2 r--p 0 1fffffffe:00 7\n",
                             "1-2 r--p 0 fe:00 18446744073709551616\n"})
        EXPECT_EQ(mappedFiles(std::string("1-2 r--p 0 fe:00 7\n") + line, {kDisk}), std::nullopt) << line;
}

} // namespace
} // namespace pinfold::test
