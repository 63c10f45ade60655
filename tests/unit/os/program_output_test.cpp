// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/program_output.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <chrono>

namespace pinfold::test {
namespace {

using namespace std::chrono_literals;

Result<std::string> shell(const std::string& script, std::chrono::milliseconds time = 30s) {
    return programOutput("/bin/sh", {"-c", script}, {"WORD=given"}, time);
}

ErrorCode errorOf(const Result<std::string>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::InvalidArgument : result.error().code;
}

TEST(ProgramOutput, isWhatTheProgramPrintsWithNothingButItsEnvironment) {
    const auto text = shell("echo $WORD $HOME; echo talk >&2; cat");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, "given\n");
}

TEST(ProgramOutput, isCutWhereItGetsLong) {
    const auto text = shell("head -c 3000000 /dev/zero");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_GE(text->size(), 1U << 20);
    EXPECT_LT(text->size(), 2U << 20);
}

TEST(ProgramOutput, isAnErrorOfAProgramThatFailsOrIsNone) {
    EXPECT_EQ(errorOf(shell("echo half; exit 3")), ErrorCode::Internal);
    EXPECT_EQ(errorOf(shell("kill -9 $$")), ErrorCode::Internal);
    EXPECT_EQ(errorOf(programOutput("/no/such/program", {}, {}, 30s)), ErrorCode::Internal);
}

TEST(ProgramOutput, comesInTimeOrTheProgramAndItsChildrenAreKilled) {
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(::pipe(ends.data()), 0); // each process of the program holds the pipe open until the process ends
    EXPECT_EQ(errorOf(shell("sleep 1000 & sleep 1000", 200ms)), ErrorCode::TimedOut);
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);
    ::close(ends[0]);
}

TEST(ProgramOutput, endsWithATimeLimitThatIsOverAtOnce) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(errorOf(shell("sleep 100", 0ms)), ErrorCode::TimedOut);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 50s) << "the program was not killed";
}

TEST(ProgramOutput, isNotWaitedForWhereTheProgramHasClosedIt) {
    EXPECT_EQ(errorOf(shell("exec >&-; sleep 1000", 200ms)), ErrorCode::TimedOut);
}

} // namespace
} // namespace pinfold::test
