// SPDX-License-Identifier: LGPL-2.1-or-later
// What stands for a hung file server here is a full pipe that nobody reads.
#include "os/job_output.hpp"

#include "tests/support/pipe.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace pinfold {
namespace {

struct Pipe : test::Pipe {
    void fill() const {
        const UniqueFd own(::open(("/proc/self/fd/" + std::to_string(writer.get())).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        const std::string page(4096, 'x');
        while (::write(own.get(), page.data(), page.size()) > 0) {
        }
    }
    /// Up to the end, or to `deadlineMs` without a byte.
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

TEST(JobOutput, saysALineAndCloses) {
    Pipe pipe;
    {
        const JobOutput output(std::move(pipe.writer));
        EXPECT_TRUE(output);
        EXPECT_TRUE(output.say("Cgroup memory limit exceeded"));
    }
    EXPECT_EQ(pipe.readAll(), "Cgroup memory limit exceeded\n");
}

TEST(JobOutput, withoutADescriptorSaysNothing) {
    EXPECT_FALSE(JobOutput());
    EXPECT_FALSE(JobOutput(UniqueFd()).say("x"));
}

TEST(JobOutput, aFullPipeHoldsNobodyUpAndGetsItsLineLater) {
    Pipe pipe;
    pipe.fill();
    const auto begun = std::chrono::steady_clock::now();
    {
        const JobOutput output(std::move(pipe.writer));
        EXPECT_TRUE(output.say("last words"));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
    const auto text = pipe.readAll();
    EXPECT_TRUE(text.ends_with("xlast words\n")) << text.substr(text.size() - 30);
}

TEST(JobOutput, aReaderThatIsGoneIsNoDanger) {
    Pipe pipe;
    pipe.reader.reset();
    EXPECT_TRUE(JobOutput(std::move(pipe.writer)).say("nobody hears it")) << "and SIGPIPE ends nobody";
}

TEST(JobOutput, isAppendedToAFile) {
    std::string name = (std::filesystem::temp_directory_path() / "pinfold-output.XXXXXX").string();
    UniqueFd file(::mkstemp(name.data()));
    ASSERT_EQ(::write(file.get(), "job\n", 4), 4);
    const int sameFile = ::fcntl(file.get(), F_DUPFD_CLOEXEC, 3);
    JobOutput(std::move(file)).say("line");
    std::string text;
    for (int i = 0; i < 1000 && text != "job\nline\n"; ++i) {
        ::poll(nullptr, 0, 10);
        std::ifstream in(name);
        text.assign(std::istreambuf_iterator<char>(in), {});
    }
    EXPECT_EQ(text, "job\nline\n");
    ::close(sameFile);
    std::filesystem::remove(name);
}

TEST(JobOutput, notMoreThreadsThanSomeHang) {
    std::vector<Pipe> pipes(JobOutput::kMostThreads + 1);
    std::vector<JobOutput> outputs;
    int said = 0;
    for (auto& pipe : pipes) {
        pipe.fill();
        outputs.emplace_back(std::move(pipe.writer));
        said += outputs.back().say("line") ? 1 : 0;
    }
    EXPECT_LE(said, JobOutput::kMostThreads);
    EXPECT_GE(said, JobOutput::kMostThreads - 2) << "threads of the tests before may be about to end";
    outputs.clear();
    int heard = 0;
    for (const auto& pipe : pipes)
        heard += pipe.readAll().ends_with("line\n") ? 1 : 0;
    EXPECT_EQ(heard, said);
}

} // namespace
} // namespace pinfold
