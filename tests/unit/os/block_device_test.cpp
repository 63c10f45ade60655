// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/block_device.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

namespace pinfold::test {
namespace {

namespace fs = std::filesystem;

/// Makes a node with two disks. One disk has two partitions. The volume dm-0 is on the first partition. The volume dm-1 is on
/// dm-0 and the second partition. The volume md0 uses the first disk and the second disk.
class BlockDeviceTest : public TemporaryDirectory {
protected:
    BlockDeviceTest() {
        fs::create_directories(top() / "sys/class/block");
        for (const auto& [device, number] : {std::pair("sda", "8:0"),
                                             {"sda/sda1", "8:1"},
                                             {"sda/sda2", "8:2"},
                                             {"sdb", "8:16"},
                                             {"dm-0", "253:0"},
                                             {"dm-1", "253:1"},
                                             {"md0", "9:0"}}) {
            write(sysfsOf(device) / "dev", std::string(number) + "\n");
            fs::create_directory(sysfsOf(device) / "slaves");
            fs::create_directory_symlink(sysfsOf(device), top() / "sys/class/block" / fs::path(device).filename());
        }
        for (const char* partition : {"sda/sda1", "sda/sda2"})
            write(sysfsOf(partition) / "partition", "1\n");
        for (const auto& [upper, lower] :
             {std::pair("dm-0", "sda/sda1"), {"dm-1", "dm-0"}, {"dm-1", "sda/sda2"}, {"md0", "sda"}, {"md0", "sdb"}})
            fs::create_directory_symlink(sysfsOf(lower), sysfsOf(upper) / "slaves" / fs::path(lower).filename());
    }
    fs::path sysfsOf(const char* device) const { return top() / "sys/devices" / device; }
};

TEST_F(BlockDeviceTest, aDiskHasOneNumberWhateverItIsCalled) {
    for (const char* name : {"/dev/sda", "/dev/sda1", "/dev/sda2", "/dev/dm-0", "/dev/dm-1"})
        EXPECT_EQ(wholeDiskBelow(top(), name), "8:0") << name;
    EXPECT_EQ(wholeDiskBelow(top(), "/dev/sdb"), "8:16");
    EXPECT_EQ(wholeDiskBelow(top(), "/dev/md0"), "9:0") << "it is on two";
}

TEST_F(BlockDeviceTest, whatIsNoBlockDeviceHasNone) {
    EXPECT_EQ(wholeDiskBelow(top(), "/dev/null"), std::nullopt);
    EXPECT_EQ(wholeDiskBelow(top(), "/tmp/sda"), std::nullopt);
}

} // namespace
} // namespace pinfold::test
