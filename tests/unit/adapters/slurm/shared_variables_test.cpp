// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/slurm/shared_variables.hpp"

#include "model/wrapper_protocol.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace pinfold {
namespace {

using Variables = SharedVariables::Variables;

TEST(SharedVariables, reachAProcessThatWasForkedBefore) {
    const Variables given{{"PINFOLD_JOB", "slurm.1"}, {"EMPTY", ""}, {"ODD", "a=b c"}};
    SharedVariables shared;
    ASSERT_TRUE(shared.prepare());
    int go[2]{};
    ASSERT_EQ(::pipe(go), 0);
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::close(go[1]);
        char byte{};
        ::_exit(::read(go[0], &byte, 1) == 1 && shared.get() == given ? 0 : 1);
    }
    shared.set(given);
    EXPECT_EQ(::write(go[1], "x", 1), 1);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ::close(go[0]);
    ::close(go[1]);
}

TEST(SharedVariables, ofALaterAnswerReplaceTheEarlierOnes) {
    SharedVariables shared;
    ASSERT_TRUE(shared.prepare());
    shared.set({{"PINFOLD_JOB", "slurm.1"}, {"PINFOLD_CPUS", "16"}});
    ASSERT_TRUE(shared.prepare());
    shared.set({{"PINFOLD_JOB", "slurm.1"}});
    EXPECT_EQ(shared.get(), (Variables{{"PINFOLD_JOB", "slurm.1"}}));
}

TEST(SharedVariables, withoutMemoryOrWithTooLongATextAreNone) {
    SharedVariables shared;
    shared.set({{"PINFOLD_JOB", "slurm.1"}});
    EXPECT_EQ(shared.get(), Variables{});
    ASSERT_TRUE(shared.prepare());
    shared.set({{"LONG", std::string(kMaxWrapperPacket, 'x')}});
    EXPECT_EQ(shared.get(), Variables{});
}

} // namespace
} // namespace pinfold
