// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/open_files.hpp"

#include "tests/support/cpp/stat_line.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace pinfold::test {
namespace {

/// Makes a fake /proc. The links in the fake /proc lead to real files, as in the kernel's /proc.
class OpenFiles : public TemporaryDirectory {
protected:
    OpenFiles() { process(1, 0, 'S'); }

    void process(int pid, uid_t uid, char state) const {
        const auto name = std::to_string(pid);
        const auto directory = "proc/" + name;
        const auto id = std::to_string(uid);
        write(directory + "/stat", statLine({.pid = pid, .name = "a) b", .state = state}));
        write(directory + "/status", "Name:\ta\nUid:\t" + id + "\t" + id + "\t7\t" + id + "\n");
        place(directory);
    }
    void place(const std::string& directory) const {
        write(directory + "/maps", "");
        std::filesystem::create_directories(top() / directory / "fd");
        for (const char* link : {"cwd", "root"})
            std::filesystem::create_symlink("/", top() / directory / link);
    }
    FileId id(const std::filesystem::path& file) const { return fileStatus(AT_FDCWD, file.c_str())->id; }
    Result<FilesInUse> inUse(std::chrono::milliseconds patience = std::chrono::minutes(1)) const {
        ProcessLooks looks(patience);
        return filesInUse({id(top()).device}, looks, top());
    }
};

} // namespace

TEST_F(OpenFiles, openMappedAndWorkedInIsFound) {
    const auto open = write("open", "");
    const auto mapped = write("mapped", "");
    std::filesystem::create_directory(top() / "directory");
    process(20, 1000, 'S');
    std::filesystem::create_symlink(open, top() / "proc/20/fd/3");
    std::filesystem::create_symlink("/gone", top() / "proc/20/fd/4");
    std::filesystem::create_symlink("/dev/null", top() / "proc/20/fd/5");
    std::filesystem::remove(top() / "proc/20/cwd");
    std::filesystem::create_symlink(top() / "directory", top() / "proc/20/cwd");
    struct stat status {};
    ASSERT_EQ(::stat(mapped.c_str(), &status), 0);
    char line[200];
    std::snprintf(line, sizeof line,
                  "7f00-7f01 rw-s 00000000 %02x:%02x %lu     /with a name\n7f02-7f03 rw-p 00000000 00:00 0 [heap]\n",
                  major(status.st_dev), minor(status.st_dev), status.st_ino);
    write("proc/20/maps", line);
    const auto files = inUse();
    ASSERT_TRUE(files) << files.error().message;
    for (const auto& file : {open, mapped, top() / "directory"})
        EXPECT_TRUE(files->files.contains(id(file))) << file;
    EXPECT_FALSE(files->files.contains(id(write("closed", ""))));
    for (const auto& file : files->files)
        EXPECT_EQ(file.device, id(top()).device);
}

TEST_F(OpenFiles, aProcessWhoseFirstThreadHasEndedIsSeenByItsOthers) {
    const auto open = write("open", "");
    process(20, 1000, 'Z');
    place("proc/20/task/21");
    std::filesystem::create_symlink(open, top() / "proc/20/task/21/fd/3");
    EXPECT_TRUE(inUse()->files.contains(id(open)));
}

TEST_F(OpenFiles, whoIsThereByAnyUserId) {
    process(20, 1000, 'S');
    const auto inhabitants = listInhabitants(top());
    ASSERT_TRUE(inhabitants) << inhabitants.error().message;
    EXPECT_EQ(inhabitants->pids, (std::set<pid_t>{1, 20}));
    EXPECT_EQ(inhabitants->users, (std::set<uid_t>{0, 7, 1000}));
}

TEST_F(OpenFiles, whoseProcessCannotBeLookedIntoIsSaidAndTheOthersAreLookedInto) {
    const auto open = write("open", "");
    process(20, 1000, 'S');
    write("proc/20/status", "Name:\ta\nUid:\t1000\t1000\t1000\t1000\n");
    write("proc/20/maps", "no map\n");
    process(30, 1001, 'S');
    std::filesystem::create_symlink(open, top() / "proc/30/fd/3");
    auto files = inUse();
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_TRUE(files->files.contains(id(open)));
    ASSERT_EQ(files->unseen.size(), 1U);
    EXPECT_EQ(files->unseen.begin()->first, 1000U);
    EXPECT_NE(files->unseen.begin()->second.find("/proc/20/maps does not have the form that proc(5) describes"),
              std::string::npos);

    write("proc/30/maps", "no map\n");
    files = inUse();
    ASSERT_TRUE(files);
    EXPECT_TRUE(files->unseen.contains(1001) && files->unseen.contains(7)) << "its saved user id is another's";
    EXPECT_FALSE(files->unseen.contains(0));

    write("proc/30/status", "Name:\ta\nUid:\t1001\t0\t0\t0\n");
    files = inUse();
    ASSERT_TRUE(files);
    EXPECT_TRUE(files->unseen.contains(0)) << "a program of root's";
}

TEST_F(OpenFiles, aProcessThatHangsIsSaidAndTheOthersAreLookedInto) {
    const auto open = write("open", "");
    process(20, 1000, 'S');
    std::filesystem::remove(top() / "proc/20/maps");
    ASSERT_EQ(::mkfifo((top() / "proc/20/maps").c_str(), 0600), 0); // a reader's open() of a pipe waits for a writer
    process(30, 1001, 'S');
    std::filesystem::create_symlink(open, top() / "proc/30/fd/3");
    // If the machine stops for half a second, processes that do not hang cannot be examined in time either, so the test searches
    // again.
    const auto search = [this] { return inUse(std::chrono::milliseconds(500)); };
    auto files = search();
    for (int i = 0; i < 20 && files && (files->unseen.contains(0) || files->unseen.contains(1001)); ++i)
        files = search();
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_TRUE(files->files.contains(id(open)));
    ASSERT_EQ(files->unseen.count(1000), 1U);
    EXPECT_EQ(files->unseen.at(1000), "process 20 of user 1000 cannot be examined: it hangs, and did not answer within 0.500 s");
    EXPECT_FALSE(files->unseen.contains(0));
}

TEST_F(OpenFiles, whatIsIncompleteIsAnError) {
    write("proc/1/stat", "no stat");
    EXPECT_FALSE(listInhabitants(top()));
    std::filesystem::remove_all(top() / "proc/1");
    EXPECT_FALSE(inUse()) << "a /proc without PID 1 hides others too";
    EXPECT_FALSE(listInhabitants(top()));
}

} // namespace pinfold::test
