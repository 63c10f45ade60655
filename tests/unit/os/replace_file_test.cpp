// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/replace_file.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <iterator>

namespace pinfold::test {
namespace {

class ReplaceFile : public TemporaryDirectory {
protected:
    std::string text(const std::filesystem::path& name) const {
        std::ifstream in(top() / name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::size_t files() const { return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(top()), {})); }
    const std::filesystem::path file = top() / "a.prom";
};

TEST_F(ReplaceFile, theNewTextTakesTheOldOnesPlace) {
    ASSERT_TRUE(replaceFile(file, "old and long\n", 0600));
    ASSERT_TRUE(replaceFile(file, "new\n", 0600));
    EXPECT_EQ(text("a.prom"), "new\n");
    EXPECT_EQ(files(), 1U);
}

TEST_F(ReplaceFile, theModeIsNotTheUmasks) {
    const auto before = ::umask(077);
    EXPECT_TRUE(replaceFile(file, "x", 0644));
    ::umask(before);
    EXPECT_EQ(modeOf(file), "644");
}

TEST_F(ReplaceFile, nothingIsWrittenThroughWhatWaitsAtTheTemporaryName) {
    write("victim", "untouched");
    std::filesystem::create_symlink("victim", top() / ".a.prom.tmp");
    EXPECT_TRUE(replaceFile(file, "one", 0644));
    EXPECT_EQ(text("victim"), "untouched");
    ASSERT_EQ(::mkfifo((top() / ".a.prom.tmp").c_str(), 0600), 0); // an open() of the pipe .a.prom.tmp would never return
    EXPECT_TRUE(replaceFile(file, "two", 0644));
    EXPECT_EQ(text("a.prom"), "two");
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(file)));
}

TEST_F(ReplaceFile, aFullDiskLeavesTheOldTextAndNoRest) {
    ASSERT_TRUE(replaceFile(file, "old", 0644));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    auto small = before;
    small.rlim_cur = 16;
    std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto full = replaceFile(file, std::string(64, 'x'), 0644);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(full.error().code, ErrorCode::Internal);
    EXPECT_NE(full.error().message.find(file.string() + ": "), std::string::npos) << full.error().message;
    EXPECT_EQ(text("a.prom"), "old");
    EXPECT_EQ(files(), 1U);
}

TEST_F(ReplaceFile, durablyIsNoOtherWayToSee) {
    ASSERT_TRUE(replaceFileDurably(file, "old\n", 0600));
    ASSERT_TRUE(replaceFileDurably(file, "new\n", 0600));
    EXPECT_EQ(text("a.prom"), "new\n");
    EXPECT_EQ(files(), 1U);
    ASSERT_TRUE(removeFileDurably(file));
    EXPECT_EQ(files(), 0U);
    EXPECT_TRUE(removeFileDurably(file)) << "it is gone already";
    std::filesystem::create_directory(file);
    EXPECT_NE(removeFileDurably(file).error().message.find(file.string()), std::string::npos);
    EXPECT_FALSE(replaceFileDurably(file, "x", 0600));
    EXPECT_EQ(files(), 1U);
}

TEST_F(ReplaceFile, noDirectoryIsAnError) {
    const auto answer = replaceFile(top() / "gone/a.prom", "x", 0644);
    EXPECT_NE(answer.error().message.find("No such file or directory"), std::string::npos) << answer.error().message;
}

} // namespace
} // namespace pinfold::test
