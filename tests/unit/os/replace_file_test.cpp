// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/replace_file.hpp"

#include "os/read_file.hpp"
#include "temporary_directory.hpp"

#include <fcntl.h>

namespace pinfold::test {
namespace {

using ReplaceFile = TemporaryDirectory;

TEST_F(ReplaceFile, textAndModeAreTheNewOnesAndNothingElseStays) {
    const auto file = write("file", "a longer old text\n");
    const auto done = replaceFile(file, "new\n", 0644);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(readFile(AT_FDCWD, file.c_str()), "new\n");
    EXPECT_EQ(modeOf(file), "644");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(top()), {}), 1);
}

TEST_F(ReplaceFile, aFailureNamesTheFile) {
    const auto done = replaceFile(top() / "absent/file", "new\n", 0644);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("absent"), std::string::npos) << done.error().message;
}

} // namespace
} // namespace pinfold::test
