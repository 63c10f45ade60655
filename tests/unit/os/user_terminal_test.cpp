// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/user_terminal.hpp"

#include "base/unique_fd.hpp"

#include <gtest/gtest.h>

#include <pty.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>

namespace pinfold::test {
namespace {

class UserTerminal : public ::testing::Test {
protected:
    UserTerminal() {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr), 0);
        screen.reset(ends[0]);
        terminal.reset(ends[1]);
        struct stat status {};
        EXPECT_EQ(::fstat(terminal.get(), &status), 0);
        device = static_cast<std::uint32_t>(status.st_rdev);
        owner = status.st_uid;
    }

    UniqueFd screen;
    UniqueFd terminal;
    std::uint32_t device = 0;
    uid_t owner = 0;
};

std::uint32_t number(unsigned major, unsigned minor) { return static_cast<std::uint32_t>(gnu_dev_makedev(major, minor)); }

} // namespace

TEST_F(UserTerminal, namesAreThoseOfDev) {
    EXPECT_EQ("/dev/" + terminalName(device), ::ttyname(terminal.get()));
    EXPECT_EQ(terminalName(number(136, 3)), "pts/3");
    EXPECT_EQ(terminalName(number(137, 1)), "pts/257");
    EXPECT_EQ(terminalName(number(136, 300)), "pts/300");
    EXPECT_EQ(terminalName(number(4, 1)), "tty1");
    EXPECT_EQ(terminalName(number(4, 65)), "ttyS1");
    EXPECT_EQ(terminalName(number(8, 1)), "") << "a disk";
    EXPECT_EQ(terminalName(0), "");
}

TEST_F(UserTerminal, aMessageIsOnTheScreen) {
    ASSERT_TRUE(writeToTerminal(device, owner, "hello\r\n"));
    std::array<char, 16> text{};
    ASSERT_GE(::read(screen.get(), text.data(), text.size()), 7);
    EXPECT_EQ(std::string_view(text.data(), 5), "hello");
}

TEST_F(UserTerminal, anotherUsersTerminalGetsNone) {
    const auto written = writeToTerminal(device, owner + 1, "hello\r\n");
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find("is not a terminal of user"), std::string::npos);
}

TEST_F(UserTerminal, oneThatNobodyReadsHoldsNothingUp) {
    const std::string much(4096, 'x');
    Result<void> written;
    for (int i = 0; i < 1000 && written; ++i)
        written = writeToTerminal(device, owner, much);
    EXPECT_FALSE(written);
}

TEST_F(UserTerminal, whatIsNoTerminalIsNotWrittenTo) {
    EXPECT_FALSE(writeToTerminal(0, owner, "hello"));
    EXPECT_FALSE(writeToTerminal(number(8, 0), owner, "hello"));
}

} // namespace pinfold::test
