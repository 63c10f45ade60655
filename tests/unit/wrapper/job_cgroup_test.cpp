// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/job_cgroup.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace pinfold {
namespace {

class JobCgroupTest : public test::TemporaryDirectory {
protected:
    void events(const std::string& cgroup, const char* text) const { write(cgroup + "/cgroup.events", text); }
};

TEST_F(JobCgroupTest, theKernelSaysWhetherProcessesAreLeft) {
    events("batch.slice/batch-sge.1.slice", "populated 1\nfrozen 0\n");
    const JobCgroup job("sge.1", {}, top());
    EXPECT_EQ(job.populated(), true);
    events("batch.slice/batch-sge.1.slice", "populated 0\nfrozen 0\n");
    EXPECT_EQ(job.populated(), false);
}

TEST_F(JobCgroupTest, ofATaskItsOwnAlone) {
    events("batch.slice/batch-sge.1.slice", "populated 1\nfrozen 0\n");
    events("batch.slice/batch-sge.1.slice/job-sge.1-2.scope", "populated 0\nfrozen 0\n");
    EXPECT_EQ(JobCgroup("sge.1", 2, top()).populated(), false);
}

TEST_F(JobCgroupTest, whereItCannotBeReadNothingIsKnown) {
    EXPECT_EQ(JobCgroup("sge.1", {}, top()).populated(), std::nullopt);
    EXPECT_EQ(JobCgroup("no key", {}, top()).populated(), std::nullopt);
}

} // namespace
} // namespace pinfold
