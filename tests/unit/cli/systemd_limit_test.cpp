// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/systemd_limit.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <fstream>

namespace pinfold::test {
namespace {

class SystemdLimit : public TemporaryDirectory {
protected:
    void cgroup(const std::string& path, const std::string& pidsMax) const {
        const auto cgroup = top() / "sys/fs/cgroup/batch.slice" / path;
        std::filesystem::create_directories(cgroup);
        if (!pidsMax.empty())
            std::ofstream(cgroup / "pids.max") << pidsMax << '\n';
    }
    std::optional<std::uint64_t> found() const { return systemdTasksMax(CgroupTree(top()), "sge.1"); }
};

TEST_F(SystemdLimit, isTheSmallestLimitOfTheTasks) {
    EXPECT_FALSE(found()) << "no such job";
    cgroup("batch-sge.1.slice", "max");
    EXPECT_FALSE(found()) << "no tasks";
    cgroup("batch-sge.1.slice/job-sge.1.scope", "4915");
    EXPECT_EQ(found(), 4915U);
    cgroup("batch-sge.1.slice/job-sge.1-1.scope", "100");
    cgroup("batch-sge.1.slice/job-sge.1-2.scope", "max");
    EXPECT_EQ(found(), 100U);
    EXPECT_FALSE(systemdTasksMax(CgroupTree(top()), "sge.2"));
    EXPECT_FALSE(systemdTasksMax(CgroupTree(top()), "../batch-sge.1.slice"));
}

TEST_F(SystemdLimit, isUnsetWithoutALimitOrWithoutTheController) {
    cgroup("batch-sge.1.slice/job-sge.1.scope", "max");
    EXPECT_FALSE(found());
    cgroup("batch-sge.2.slice/job-sge.2.scope", "");
    EXPECT_FALSE(systemdTasksMax(CgroupTree(top()), "sge.2"));
}

} // namespace
} // namespace pinfold::test
