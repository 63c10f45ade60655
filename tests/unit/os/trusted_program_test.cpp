// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/trusted_program.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <sys/stat.h>

namespace pinfold::test {
namespace {

using TrustedProgram = TemporaryDirectory;

TEST_F(TrustedProgram, aProgramOfTheSystemIsTrustedByItsRealName) {
    const auto program = trustedProgram("/bin/sh");
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(*program, std::filesystem::canonical("/bin/sh"));
}

TEST_F(TrustedProgram, whatIsNotThereOrNoProgramIsRefused) {
    const auto absent = trustedProgram(top() / "absent");
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().code, ErrorCode::ConfigInvalid);
    EXPECT_TRUE(absent.error().message.starts_with((top() / "absent").string() + ": ")) << absent.error().message;
    EXPECT_FALSE(trustedProgram("/etc/passwd"));
    EXPECT_FALSE(trustedProgram("/usr/bin"));
}

TEST_F(TrustedProgram, aDirectoryThatOthersWriteToIsNamed) {
    const auto script = write("script", "#!/bin/sh\n");
    ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
    const auto refused = trustedProgram(script);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("users other than root may write to it"), std::string::npos)
        << refused.error().message;
}

TEST_F(TrustedProgram, aLinkIsNoWayAround) {
    const auto script = write("script", "#!/bin/sh\n");
    ASSERT_EQ(::chmod(script.c_str(), 0777), 0);
    std::filesystem::create_symlink(script, top() / "link");
    const auto refused = trustedProgram(top() / "link");
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().message.starts_with(std::filesystem::canonical(script).string())) << refused.error().message;
}

} // namespace
} // namespace pinfold::test
