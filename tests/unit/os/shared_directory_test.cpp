// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/shared_directory.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

namespace pinfold::test {
namespace {

class SharedDirectories : public TemporaryDirectory {
protected:
    SharedDirectories() {
        std::filesystem::create_directory(top() / "shared");
        write("outside/file", "precious");
    }

    SharedDirectory shared() const { return *SharedDirectory::open(top() / "shared"); }
    static DirectoryEntry entry(const SharedDirectory& directory, const std::string& name) {
        const auto entries = *directory.entries();
        const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& one) { return one.name == name; });
        EXPECT_NE(found, entries.end()) << name;
        return found == entries.end() ? DirectoryEntry{} : *found;
    }
    bool exists(const std::string& path) const { return std::filesystem::exists(top() / path); }

    static constexpr auto nobodys = [](const FileId&) { return false; };
};

} // namespace

TEST_F(SharedDirectories, aTreeIsCountedAndLinksAreNotFollowed) {
    write("shared/tree/sub/file", std::string(10000, 'x'));
    std::filesystem::create_symlink(top() / "outside", top() / "shared/tree/link");
    const auto directory = shared();
    const auto tree = entry(directory, "tree");
    EXPECT_TRUE(tree.status.directory);
    const auto survey = directory.survey(tree, nobodys);
    ASSERT_TRUE(survey) << survey.error().message;
    EXPECT_EQ(survey->entries, 4u);
    EXPECT_EQ(survey->others, 0u);
    EXPECT_GE(survey->size, 10000u);
    EXPECT_EQ(survey->oldest, tree.status.born);
    EXPECT_FALSE(survey->inUse);
}

TEST_F(SharedDirectories, oneFileInUseIsEnough) {
    write("shared/tree/sub/file", "");
    const auto directory = shared();
    struct stat status {};
    ASSERT_EQ(::stat((top() / "shared/tree/sub/file").c_str(), &status), 0);
    const auto survey = directory.survey(entry(directory, "tree"), [&](const FileId& id) { return id.inode == status.st_ino; });
    ASSERT_TRUE(survey);
    EXPECT_TRUE(survey->inUse);
}

TEST_F(SharedDirectories, aRemovedTreeTakesNothingElseAlong) {
    write("shared/tree/sub/file", "");
    write("shared/other", "");
    std::filesystem::create_symlink(top() / "outside", top() / "shared/tree/link");
    std::filesystem::create_hard_link(top() / "outside/file", top() / "shared/tree/linked");
    ::mkfifo((top() / "shared/tree/fifo").c_str(), 0600);
    const auto directory = shared();
    const auto removal = directory.remove(entry(directory, "tree"));
    ASSERT_TRUE(removal) << removal.error().message;
    EXPECT_EQ(removal->entries, 6u);
    EXPECT_FALSE(exists("shared/tree"));
    EXPECT_TRUE(exists("shared/other"));
    EXPECT_TRUE(exists("outside/file"));
}

TEST_F(SharedDirectories, whatWasReplacedOrChangedSinceItWasListedStays) {
    write("shared/tree/file", "");
    write("shared/file", "");
    write("shared/again", "");
    const auto directory = shared();
    const auto tree = entry(directory, "tree");
    const auto file = entry(directory, "file");
    const auto again = entry(directory, "again");

    std::filesystem::rename(top() / "shared/tree", top() / "elsewhere");
    std::filesystem::create_symlink(top() / "outside", top() / "shared/tree");
    std::filesystem::remove(top() / "shared/file");
    write("shared/file", "");
    ASSERT_EQ(::utimensat(AT_FDCWD, (top() / "shared/again").c_str(), nullptr, 0), 0);
    for (const auto& listed : {tree, file, again}) {
        const auto removal = directory.remove(listed);
        ASSERT_FALSE(removal) << listed.name;
        EXPECT_EQ(removal.error().code, ErrorCode::Busy) << listed.name;
    }
    EXPECT_TRUE(exists("outside/file"));
    EXPECT_TRUE(exists("shared/file"));
    EXPECT_TRUE(exists("shared/again"));
}

TEST_F(SharedDirectories, allLinksOfAFileGo) {
    write("shared/file", "");
    std::filesystem::create_hard_link(top() / "shared/file", top() / "shared/link");
    const auto directory = shared();
    const auto file = entry(directory, "file");
    const auto link = entry(directory, "link");
    EXPECT_TRUE(directory.remove(file));
    EXPECT_TRUE(directory.remove(link));
    EXPECT_FALSE(exists("shared/link"));
}

TEST_F(SharedDirectories, aLinkThatTakesADirectorysPlaceMeanwhileIsNotEntered) {
    std::filesystem::create_symlink(top() / "outside", top() / "link");
    const auto link = top() / "link";
    for (int round = 0; round < 100; ++round) {
        write("shared/tree/sub/file", "");
        const auto sub = top() / "shared/tree/sub";
        const auto directory = shared();
        const auto tree = entry(directory, "tree");
        std::atomic<bool> done = false;
        std::thread attacker([&] {
            while (!done)
                ::renameat2(AT_FDCWD, sub.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
        });
        (void)directory.survey(tree, nobodys);
        (void)directory.remove(tree);
        done = true;
        attacker.join();
        ASSERT_TRUE(exists("outside/file"));
        std::filesystem::remove_all(top() / "shared/tree");
        std::filesystem::remove_all(link);
        std::filesystem::create_symlink(top() / "outside", link);
    }
}

TEST_F(SharedDirectories, whatBelongsToOthersStaysAndIsCounted) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can give files to other users";
    const auto own = write("shared/tree/sub/own", "");
    write("shared/tree/sub/another/file", "");
    for (const auto& path : {own, top() / "shared/tree/sub", top() / "shared/tree"})
        ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    ASSERT_EQ(::chmod((top() / "shared").c_str(), 01777), 0);
    const auto directory = shared();
    const auto survey = directory.survey(entry(directory, "tree"), nobodys);
    ASSERT_TRUE(survey);
    EXPECT_EQ(survey->entries, 3u);
    EXPECT_EQ(survey->others, 1u);
    const auto removal = directory.remove(entry(directory, "tree"));
    ASSERT_TRUE(removal) << removal.error().message;
    EXPECT_EQ(removal->entries, 1u);
    EXPECT_EQ(removal->others, 1u);
    EXPECT_FALSE(std::filesystem::exists(own));
    EXPECT_TRUE(exists("shared/tree/sub/another/file"));
}

TEST_F(SharedDirectories, theOwnersRightsAreAllThatARemovalHas) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root has more rights than the owner of a file";
    // The file's owner does not have the right to write to the file's directory.
    const auto file = write("shared/file", "");
    ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
    const auto directory = shared();
    const auto removal = directory.remove(entry(directory, "file"));
    ASSERT_FALSE(removal);
    EXPECT_NE(removal.error().message.find("shared/file: "), std::string::npos) << removal.error().message;
    EXPECT_TRUE(std::filesystem::exists(file));
    EXPECT_TRUE(SharedDirectory::open(top() / "shared")) << "root's rights are back";
}

TEST_F(SharedDirectories, directoriesOfTheOwnersThatAreNotWritableAreNoHindrance) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can give files to other users";
    const auto file = write("shared/tree/sub/file", "");
    ASSERT_EQ(::chmod((top() / "shared").c_str(), 01777), 0);
    for (const auto& path : {file, file.parent_path(), file.parent_path().parent_path()})
        ASSERT_TRUE(::chown(path.c_str(), 12345, 12345) == 0 && ::chmod(path.c_str(), 0) == 0);
    const auto directory = shared();
    const auto removal = directory.remove(entry(directory, "tree"));
    ASSERT_TRUE(removal) << removal.error().message;
    EXPECT_FALSE(exists("shared/tree"));
}

TEST_F(SharedDirectories, tooDeepIsAnError) {
    std::filesystem::path deep = top() / "shared/tree";
    for (unsigned level = 0; level <= SharedDirectory::kMostDepth; ++level)
        deep /= "d";
    std::filesystem::create_directories(deep);
    const auto directory = shared();
    const auto survey = directory.survey(entry(directory, "tree"), nobodys);
    ASSERT_FALSE(survey);
    EXPECT_NE(survey.error().message.find("nested more than 200 deep"), std::string::npos) << survey.error().message;
}

TEST_F(SharedDirectories, oneThatOthersCanRenameInIsRefused) {
    ASSERT_EQ(::chmod((top() / "shared").c_str(), 0777), 0);
    EXPECT_FALSE(SharedDirectory::open(top() / "shared"));
    ASSERT_EQ(::chmod((top() / "shared").c_str(), 01777), 0);
    EXPECT_TRUE(SharedDirectory::open(top() / "shared"));
    std::filesystem::create_symlink("shared", top() / "link");
    EXPECT_FALSE(SharedDirectory::open(top() / "link"));
    EXPECT_FALSE(SharedDirectory::open(top() / "none"));
}

} // namespace pinfold::test
