// SPDX-License-Identifier: LGPL-2.1-or-later
// In these tests, a full pipe that nobody reads acts as a hung file server.
#include "os/job_output.hpp"

#include "os/thread_background.hpp"
#include "tests/support/cpp/manual_event_loop.hpp"
#include "tests/support/cpp/pipe.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace pinfold {
namespace {

struct OutputPipe : test::Pipe {
    void fill() const {
        const UniqueFd own(::open(("/proc/self/fd/" + std::to_string(writer.get())).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        const std::string page(4096, 'x');
        while (::write(own.get(), page.data(), page.size()) > 0) {
        }
    }
    /// Reads the job's output until the output ends, or until no byte has come for `deadlineMs` milliseconds.
    std::string readAll(int deadlineMs = 10'000) const {
        std::string text;
        std::array<char, 65536> buffer{};
        for (;;) {
            pollfd poller{reader.get(), POLLIN, 0};
            if (::poll(&poller, 1, deadlineMs) <= 0)
                return text + "(not closed)";
            const auto count = ::read(reader.get(), buffer.data(), buffer.size());
            if (count <= 0)
                return text;
            text.append(buffer.data(), static_cast<std::size_t>(count));
        }
    }
};

class JobOutputTest : public ::testing::Test {
protected:
    JobOutput outputTo(UniqueFd descriptor, uid_t owner = 1000) {
        return {writers, owner, ForeignFd(closer, 0, std::move(descriptor))};
    }

    /// Waits for the closer, and returns true if the closer holds no descriptor any more.
    bool closes() {
        while (closer.held() > 0 && loop.waitForEvent(10'000)) {
        }
        return closer.held() == 0;
    }

    test::ManualEventLoop loop;
    ThreadBackground background{loop};
    DescriptorCloser closer{background};
    OutputWriters writers{background};
};

TEST_F(JobOutputTest, saysALineAndCloses) {
    OutputPipe pipe;
    {
        const auto output = outputTo(std::move(pipe.writer));
        EXPECT_TRUE(output);
        EXPECT_TRUE(output.say("Cgroup memory limit exceeded"));
    }
    EXPECT_EQ(pipe.readAll(), "Cgroup memory limit exceeded\n");
}

TEST_F(JobOutputTest, withoutADescriptorSaysNothing) {
    EXPECT_FALSE(JobOutput());
    EXPECT_FALSE(JobOutput().say("x"));
    EXPECT_FALSE(outputTo(UniqueFd()).say("x"));
}

TEST_F(JobOutputTest, aFullPipeHoldsNobodyUpAndGetsItsLineLater) {
    // The test measures several calls, because a busy machine can stop the test for seconds during one of the calls.
    std::vector<OutputPipe> pipes(3);
    auto quickest = std::chrono::steady_clock::duration::max();
    for (std::size_t i = 0; i < pipes.size(); ++i) {
        pipes[i].fill();
        const auto begun = std::chrono::steady_clock::now();
        {
            const auto output = outputTo(std::move(pipes[i].writer), static_cast<uid_t>(1000 + i));
            EXPECT_TRUE(output.say("last words"));
        }
        quickest = std::min(quickest, std::chrono::steady_clock::now() - begun);
    }
    EXPECT_LT(quickest, std::chrono::seconds(1));
    for (const auto& pipe : pipes) {
        const auto text = pipe.readAll();
        EXPECT_TRUE(text.ends_with("xlast words\n")) << text.substr(text.size() - 30);
    }
}

TEST_F(JobOutputTest, aReaderThatIsGoneIsNoDanger) {
    std::signal(SIGPIPE, SIG_DFL);
    OutputPipe pipe;
    pipe.reader.reset();
    EXPECT_TRUE(outputTo(std::move(pipe.writer)).say("nobody hears it")) << "and SIGPIPE ends nobody";
}

TEST_F(JobOutputTest, isAppendedToAFile) {
    std::string name = (std::filesystem::temp_directory_path() / "pinfold-output.XXXXXX").string();
    UniqueFd file(::mkstemp(name.data()));
    ASSERT_EQ(::write(file.get(), "job\n", 4), 4);
    outputTo(std::move(file)).say("line");
    const auto content = [&name] {
        std::ifstream in(name);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    // The loop gets one event when the test's own descriptor is closed, and one event when the line is written.
    while (content() != "job\nline\n" && loop.waitForEvent(10'000)) {
    }
    EXPECT_EQ(content(), "job\nline\n");
    std::filesystem::remove(name);
}

TEST_F(JobOutputTest, whatHangsIsCountedByUser) {
    std::vector<OutputPipe> pipes(OutputWriters::kThreadsPerUser + 2);
    std::vector<JobOutput> outputs;
    for (auto& pipe : pipes) {
        pipe.fill();
        const bool others = &pipe == &pipes.back();
        outputs.push_back(outputTo(std::move(pipe.writer), others ? 1001 : 1000));
        EXPECT_EQ(outputs.back().say("line"), outputs.size() != pipes.size() - 1) << outputs.size();
    }
    EXPECT_EQ(background.refused(Lane::Output), 1U);
    outputs.clear();
    EXPECT_TRUE(closes());
    for (std::size_t i = 0; i < pipes.size(); ++i)
        EXPECT_EQ(pipes[i].readAll().ends_with("xline\n"), i != pipes.size() - 2) << i;
}

TEST_F(JobOutputTest, usersTogetherLeaveThreadsToRoot) {
    std::vector<OutputPipe> pipes(OutputWriters::kThreadsOfUsers + 2);
    std::vector<JobOutput> outputs;
    for (std::size_t i = 0; i < pipes.size(); ++i) {
        pipes[i].fill();
        const bool root = i == pipes.size() - 1;
        outputs.push_back(outputTo(std::move(pipes[i].writer), root ? 0 : static_cast<uid_t>(1000 + i)));
        EXPECT_EQ(outputs.back().say("line"), i < OutputWriters::kThreadsOfUsers || root) << i;
    }
}

TEST_F(JobOutputTest, whatIsNotSaidDoesNotStayOpen) {
    std::vector<OutputPipe> pipes(OutputWriters::kThreadsPerUser + 1);
    std::vector<JobOutput> outputs;
    for (auto& pipe : pipes) {
        pipe.fill();
        outputs.push_back(outputTo(std::move(pipe.writer)));
        (void)outputs.back().say("line");
    }
    outputs.clear();
    EXPECT_TRUE(closes());
    const auto text = pipes.back().readAll(); // the outputs of the previous jobs occupy all threads
    EXPECT_TRUE(text.ends_with("x")) << text.substr(text.size() - 30);
}

} // namespace
} // namespace pinfold
