// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/job_environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace pinfold {
namespace {

using Variables = std::map<std::string, std::string>;

/// Each test begins without the variables of a job.
class JobEnvironment : public ::testing::Test {
protected:
    JobEnvironment() {
        for (const char* name :
             {"PINFOLD_JOB", "PINFOLD_MEMORY_MAX", "PINFOLD_END_TIME", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"})
            ::unsetenv(name);
    }
    static std::string value(const char* name) {
        const char* found = std::getenv(name);
        return found ? found : "(unset)";
    }
};

TEST_F(JobEnvironment, getsTheVariables) {
    addToEnvironment({{"PINFOLD_JOB", "sge.1"}, {"PINFOLD_MEMORY_MAX", "1"}, {"CUDA_VISIBLE_DEVICES", "0"}});
    EXPECT_EQ(value("PINFOLD_JOB"), "sge.1");
    EXPECT_EQ(value("PINFOLD_MEMORY_MAX"), "1");
    EXPECT_EQ(value("CUDA_VISIBLE_DEVICES"), "0");
}

TEST_F(JobEnvironment, keepsTheUsersOwnValuesOfLimitsAndNotOfGpus) {
    ::setenv("PINFOLD_MEMORY_MAX", "mine", 1);
    ::setenv("OMP_NUM_THREADS", "1", 1);
    ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    addToEnvironment(
        {{"PINFOLD_JOB", "sge.1"}, {"PINFOLD_MEMORY_MAX", "1"}, {"OMP_NUM_THREADS", "4"}, {"CUDA_VISIBLE_DEVICES", "0"}});
    EXPECT_EQ(value("PINFOLD_MEMORY_MAX"), "mine");
    EXPECT_EQ(value("OMP_NUM_THREADS"), "1");
    EXPECT_EQ(value("CUDA_VISIBLE_DEVICES"), "0") << "the job can open no other GPU";
}

TEST_F(JobEnvironment, forgetsTheLimitsOfAnotherJob) {
    addToEnvironment({{"PINFOLD_JOB", "sge.1"}, {"PINFOLD_MEMORY_MAX", "1"}, {"PINFOLD_END_TIME", "2"}});
    addToEnvironment({{"PINFOLD_JOB", "sge.2"}, {"PINFOLD_MEMORY_MAX", "3"}});
    EXPECT_EQ(value("PINFOLD_JOB"), "sge.2");
    EXPECT_EQ(value("PINFOLD_MEMORY_MAX"), "3");
    EXPECT_EQ(value("PINFOLD_END_TIME"), "(unset)") << "the second job has no such limit";
}

TEST_F(JobEnvironment, ofAnEarlierPinfolddIsLeftAlone) {
    ::setenv("PINFOLD_JOB", "sge.1", 1);
    ::setenv("PINFOLD_END_TIME", "2", 1);
    addToEnvironment({{"CUDA_VISIBLE_DEVICES", "0"}});
    EXPECT_EQ(value("PINFOLD_END_TIME"), "2");
}

} // namespace
} // namespace pinfold
