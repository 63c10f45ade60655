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
    writeInTime(pipe.writer.get(), kMoreThanAPipe, Deadline(60'000'000));
    pipe.writer.reset();
    EXPECT_EQ(read.get(), kMoreThanAPipe);
}

TEST(WriteInTime, isNotHeldUpByWhoDoesNotRead) {
    Pipe pipe;
    const auto begun = monotonicNow();
    writeInTime(pipe.writer.get(), kMoreThanAPipe, Deadline(50'000));
    EXPECT_GE(monotonicNow() - begun, 50'000U);
    pipe.writer.reset();
    const auto taken = readAll(pipe.reader.get());
    EXPECT_GE(taken.size(), 4096U) << "what there was room for";
    EXPECT_LT(taken.size(), kMoreThanAPipe.size());
}

TEST(WriteInTime, endsWhenTheReaderIsGone) {
    std::signal(SIGPIPE, SIG_IGN);
    Pipe pipe;
    pipe.reader.reset();
    const auto begun = monotonicNow();
    writeInTime(pipe.writer.get(), kMoreThanAPipe, Deadline(60'000'000));
    EXPECT_LT(monotonicNow() - begun, 30'000'000U);
}

} // namespace
} // namespace pinfold
