// SPDX-License-Identifier: LGPL-2.1-or-later
// A fixture for tests that check what pinfoldd writes to a job's own output.
#pragma once

#include "tests/unit/core/core_fixture.hpp"

#include <fcntl.h>

namespace pinfold::test {

/// Creates the job sge.1, which writes its output into a pipe. The tests read the job's output from the pipe.
class OutputTest : public CoreTest {
protected:
    void createWith(const ChildProcess& process, ResourceLimits limits, const ChildProcess* supervisor = nullptr,
                    const Caller& caller = {0, true}) {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
        output.reset(ends[0]);
        CreateRequest request;
        request.key = "sge.1";
        request.leader = process.pidfd();
        request.output = ForeignFd(UniqueFd(ends[1]));
        if (supervisor)
            request.supervisor = supervisor->pidfd();
        request.limits = std::move(limits);
        manager->createJob(caller, std::move(request), [this](Result<JobSummary> answer) { created = std::move(answer); });
        loop.settle();
        ASSERT_TRUE(created && *created);
    }

    ChildProcess leader = child();
    UniqueFd output;
};

} // namespace pinfold::test
