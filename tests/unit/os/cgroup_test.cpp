// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/cgroup.hpp"

#include "os/read_file.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <algorithm>

namespace pinfold::test {
namespace {

constexpr const char* kPath = "/batch.slice/batch-sge.1.slice";

class Cgroups : public TemporaryDirectory {
protected:
    Cgroups() : tree(top()) { put("cgroup.procs", ""); }

    /// Writes `text` to a file in the test's cgroup, or in a cgroup below the test's cgroup.
    void put(const std::string& file, std::string_view text) const { write(relative() / file, text); }
    std::string get(const std::string& file) const {
        return readFile(AT_FDCWD, (top() / relative() / file).c_str()).value_or("(none)");
    }
    CgroupDir open() const { return *tree.open(kPath); }
    void removeAll() const { std::filesystem::remove_all(top() / relative()); }
    static std::filesystem::path relative() { return std::filesystem::path("sys/fs/cgroup") / (kPath + 1); }

    CgroupTree tree;
};

} // namespace

TEST_F(Cgroups, populatedFollowsTheEventsFile) {
    const auto cgroup = open();
    put("cgroup.events", "populated 1\nfrozen 0\n");
    EXPECT_TRUE(cgroup.populated());
    put("cgroup.events", "frozen 1\npopulated 0\n");
    EXPECT_FALSE(cgroup.populated());
}

TEST_F(Cgroups, aCgroupThatWentIsNeitherPopulatedNorThere) {
    const auto cgroup = open();
    put("cgroup.events", "populated 1\n");
    EXPECT_FALSE(cgroup.gone());
    removeAll();
    EXPECT_FALSE(cgroup.populated());
    EXPECT_TRUE(cgroup.gone());
    EXPECT_TRUE(cgroup.processes()->empty());
    EXPECT_FALSE(cgroup.read("memory.max"));
    EXPECT_EQ(cgroup.usage(), Usage{});
}

TEST_F(Cgroups, boundsAreTheTightest) {
    const auto cgroup = open();
    EXPECT_FALSE(cgroup.bounds().cpus || cgroup.bounds().memoryMax);
    put("cpu.max", "max 100000\n");
    put("memory.max", "max\n");
    EXPECT_FALSE(cgroup.bounds().cpus || cgroup.bounds().memoryMax);
    put("cpu.max", "250000 100000\n");
    put("memory.max", "4096\n");
    EXPECT_DOUBLE_EQ(*cgroup.bounds().cpus, 2.5);
    EXPECT_EQ(cgroup.bounds().memoryMax, 4096U);
    put("cpuset.cpus.effective", "3,5\n");
    EXPECT_DOUBLE_EQ(*cgroup.bounds().cpus, 2);
}

TEST_F(Cgroups, filesThatStayOpenAreReadAnew) {
    auto cgroup = open();
    cgroup.keepFilesOpen();
    EXPECT_EQ(cgroup.frozen(), std::nullopt);
    put("cgroup.events", "populated 1\nfrozen 0\n");
    cgroup.keepFilesOpen();
    put("cpu.stat", "usage_usec 3\nuser_usec 1\nsystem_usec 2\n");
    const auto many = std::string("8:0 rbytes=1 wbytes=2\n") + std::string(9000, '\n');
    put("io.stat", many + "8:16 rbytes=10 wbytes=20\n");
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(cgroup.frozen(), false);
        EXPECT_EQ(cgroup.briefUsage().cpuSystem, 2us);
        EXPECT_EQ(cgroup.briefUsage().ioRead, 11U) << "all of a long file";
    }
    put("cgroup.events", "populated 1\nfrozen 1\n");
    put("cpu.stat", "usage_usec 30\nuser_usec 10\nsystem_usec 20\n");
    EXPECT_EQ(cgroup.frozen(), true);
    EXPECT_EQ(cgroup.briefUsage().cpuSystem, 20us);
}

TEST_F(Cgroups, anOpenDirectoryIsNotItsSuccessor) {
    const auto first = open();
    std::filesystem::rename(top() / relative(), top() / "moved away");
    put("cgroup.events", "populated 1\n");
    EXPECT_FALSE(first.populated());
    EXPECT_TRUE(open().populated());
}

TEST_F(Cgroups, withoutADescriptorLeftNothingIsTakenForEmpty) {
    const auto cgroup = open();
    put("cgroup.events", "populated 0\n");
    put("cgroup.procs", "");
    put("child/cgroup.procs", "7\n");
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit none{0, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const bool populated = cgroup.populated();
    const bool gone = cgroup.gone();
    const auto processes = cgroup.processes();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_TRUE(populated);
    EXPECT_FALSE(gone);
    EXPECT_FALSE(processes);
}

TEST_F(Cgroups, processesAreThoseOfNestedCgroupsToo) {
    put("cgroup.procs", "10\n11\n");
    put("a/cgroup.procs", "20\n");
    put("a/b c/cgroup.procs", "4194304\n");
    put("empty/cgroup.procs", "");
    auto pids = *open().processes();
    std::sort(pids.begin(), pids.end());
    EXPECT_EQ(pids, (std::vector<pid_t>{10, 11, 20, 4194304}));
}

TEST_F(Cgroups, anIncompleteListIsAnError) {
    put("cgroup.procs", "10\n");
    put("a/cgroup.procs", "0\n20\n"); // the kernel shows a process of a foreign pid namespace as 0
    const auto pids = open().processes();
    ASSERT_FALSE(pids);
    EXPECT_EQ(pids.error().code, ErrorCode::Internal);
    EXPECT_NE(pids.error().message.find("incomplete"), std::string::npos) << pids.error().message;
    put("a/cgroup.procs", "junk\n");
    EXPECT_FALSE(open().processes());
}

TEST_F(Cgroups, aSymbolicLinkLeadsNowhere) {
    put("cgroup.procs", "10\n");
    write("elsewhere/cgroup.procs", "99\n");
    std::filesystem::create_directory_symlink(top() / "elsewhere", top() / relative() / "link");
    EXPECT_EQ(*open().processes(), std::vector<pid_t>{10});
    EXPECT_FALSE(tree.open(std::string(kPath) + "/link"));
}

TEST_F(Cgroups, killAndAttachWriteWhatTheKernelReads) {
    put("cgroup.kill", "");
    ASSERT_TRUE(open().kill());
    EXPECT_EQ(get("cgroup.kill"), "1");
    ASSERT_TRUE(open().attach(4711));
    EXPECT_EQ(get("cgroup.procs"), "4711");
}

TEST_F(Cgroups, killAndAttachNameTheFileThatFailed) {
    const auto killed = open().kill();
    ASSERT_FALSE(killed);
    EXPECT_EQ(killed.error().code, ErrorCode::Internal);
    EXPECT_NE(killed.error().message.find("cgroup.kill"), std::string::npos) << killed.error().message;
    const auto cgroup = open();
    removeAll();
    EXPECT_EQ(cgroup.attach(1).error().code, ErrorCode::Internal);
}

TEST_F(Cgroups, usageSumsAndKeepsUnknownApartFromZero) {
    put("cpu.stat", "usage_usec 300\nuser_usec 200\nsystem_usec 100\nnr_periods 0\nthrottled_usec 77\n");
    put("memory.current", "4096\n");
    put("memory.peak", "18446744073709551615\n");
    put("pids.current", "0\n");
    put("pids.peak", "12\n");
    put("io.stat", "8:0 rbytes=10 wbytes=1 rios=5 wios=1 dbytes=9 dios=0\n253:1 rbytes=20 wbytes=2\n7:0 \n");
    put("memory.swap.current", "8192\n");
    put("memory.swap.peak", "12288\n");
    put("memory.stat", "anon 3000\nfile 1000\nkernel 96\nfile_mapped 7\nanon_thp 0\n");
    put("cpu.pressure", "some avg10=0.00 avg60=0.10 avg300=0.00 total=11\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    put("memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=22\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=21\n");
    put("io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=33\n");
    put("memory.events", "low 0\nhigh 0\nmax 5\noom 1\noom_kill 2\noom_group_kill 9\n");
    Usage expected;
    expected.cpuUser = 200us;
    expected.cpuSystem = 100us;
    expected.memoryCurrent = 4096;
    expected.memoryPeak = UINT64_MAX;
    expected.tasksCurrent = 0;
    expected.tasksPeak = 12;
    expected.ioRead = 30;
    expected.ioWritten = 3;
    expected.cpuThrottled = 77us;
    expected.memoryAnon = 3000;
    expected.memoryFile = 1000;
    expected.swapCurrent = 8192;
    expected.swapPeak = 12288;
    expected.ioReads = 5;
    expected.ioWrites = 1;
    expected.ioDevices = {{"8:0", 10, 1, 5, 1}, {"253:1", 20, 2, 0, 0}};
    expected.cpuPressure = 11us;
    expected.memoryPressure = 22us;
    expected.memoryPressureFull = 21us;
    expected.ioPressure = 0s;
    expected.ioPressureFull = 33us;
    expected.memoryHighEvents = 0;
    expected.memoryMaxEvents = 5;
    expected.oomEvents = 1;
    expected.oomKills = 2;
    expected.oomGroupKills = 9;
    EXPECT_EQ(open().usage(), expected);
}

TEST_F(Cgroups, whatCanNotGoAwayIsAllButThePageCacheOfDisks) {
    EXPECT_EQ(open().unreclaimableMemory(), std::nullopt);
    put("memory.current", "10000\n");
    put("memory.stat", "anon 5000\nfile 3000\nshmem 1000\nslab_reclaimable 500\n");
    EXPECT_EQ(open().unreclaimableMemory(), 10000U - 2000 - 500);
    put("memory.current", "100\n"); // the memory can become smaller between the reads of memory.stat and memory.current
    EXPECT_EQ(open().unreclaimableMemory(), 0U);
}

TEST_F(Cgroups, noControllerNoNumberButNoTrafficIsZero) {
    EXPECT_EQ(open().usage(), Usage{});
    put("io.stat", "");
    EXPECT_EQ(open().usage().ioRead, 0U);
    EXPECT_EQ(open().usage().ioWritten, 0U);
    EXPECT_FALSE(open().usage().memoryPeak);
}

TEST_F(Cgroups, aFileIsReadWithoutItsLastLineBreak) {
    put("memory.max", "max\n");
    put("memory.events", "oom 0\noom_kill 0\n");
    EXPECT_EQ(open().read("memory.max"), "max");
    EXPECT_EQ(open().read("memory.events"), "oom 0\noom_kill 0");
    EXPECT_FALSE(open().read("io.max"));
}

TEST_F(Cgroups, theTreeIsWalkedByKernelPaths) {
    put("one/cgroup.procs", "");
    put("two/cgroup.procs", "");
    EXPECT_TRUE(tree.exists(kPath));
    EXPECT_TRUE(tree.exists("/"));
    EXPECT_FALSE(tree.exists("/batch.slice/other.slice"));
    auto children = tree.children(kPath);
    std::sort(children.begin(), children.end());
    EXPECT_EQ(children, (std::vector<std::string>{"one", "two"}));
    EXPECT_TRUE(tree.children("/nowhere").empty());
    EXPECT_EQ(tree.eventsFile(kPath), top() / relative() / "cgroup.events");
    const auto missing = tree.open("/nowhere");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("/nowhere"), std::string::npos);
}

TEST_F(Cgroups, onlyAnEmptyCgroupIsRemoved) {
    const auto path = std::string(kPath) + "/leaf";
    std::filesystem::create_directories(top() / relative() / "leaf/child");
    EXPECT_EQ(tree.remove(path).error().code, ErrorCode::Internal);
    EXPECT_TRUE(tree.exists(path));
    ASSERT_TRUE(tree.remove(path + "/child"));
    ASSERT_TRUE(tree.remove(path));
    EXPECT_FALSE(tree.exists(path));
    EXPECT_TRUE(tree.remove(path)) << "gone already is as good";
}

TEST_F(Cgroups, theCheckWantsADirectory) {
    EXPECT_TRUE(tree.check());
    const auto missing = CgroupTree(top() / "nothing").check();
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find((top() / "nothing/sys/fs/cgroup").string()), std::string::npos);
}

TEST(CgroupMount, theCheckSaysWhatThisKernelSays) {
    struct statfs status {};
    const bool v2 = ::statfs("/sys/fs/cgroup", &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC;
    const auto checked = CgroupTree().check();
    EXPECT_EQ(static_cast<bool>(checked), v2);
    if (!checked) {
        EXPECT_NE(checked.error().message.find("cgroup v2"), std::string::npos) << checked.error().message;
    }
}

} // namespace pinfold::test
