// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket_client/say.hpp"

#include "tests/support/cpp/pipe.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <future>
#include <string>

namespace pinfold {
namespace {

using test::Pipe;

std::string readAll(int fd) {
    std::string text;
    std::array<char, 512> buffer{};
    for (ssize_t count = 0; (count = ::read(fd, buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    return text;
}

const std::string kMoreThanAPipe(300'000, 'x');

TEST(WriteInTime, allOfItToWhoReads) {
    Pipe pipe;
    auto read = std::async(std::launch::async, [&pipe] { return readAll(pipe.reader.get()); });
    writeInTime(pipe.writer.get(), kMoreThanAPipe, Deadline(60s));
    pipe.writer.reset();
    EXPECT_EQ(read.get(), kMoreThanAPipe);
}

TEST(WriteInTime, isNotHeldUpByWhoDoesNotRead) {
    Pipe pipe;
    const auto begun = MonotonicClock::now();
    writeInTime(pipe.writer.get(), kMoreThanAPipe, Deadline(50ms));
    EXPECT_GE(MonotonicClock::now() - begun, 50ms);
    pipe.writer.reset();
    const auto taken = readAll(pipe.reader.get());
    EXPECT_GE(taken.size(), 4096U) << "what there was room for";
    EXPECT_LT(taken.size(), kMoreThanAPipe.size());
}

TEST(WriteInTime, endsWhenTheReaderIsGone) {
    std::signal(SIGPIPE, SIG_IGN);
    Pipe pipe;
    pipe.reader.reset();
    const auto begun = MonotonicClock::now();
    writeInTime(pipe.writer.get(), kMoreThanAPipe, Deadline(60s));
    EXPECT_LT(MonotonicClock::now() - begun, 30s);
}

} // namespace
} // namespace pinfold
