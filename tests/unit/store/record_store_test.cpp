// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/record_store.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <algorithm>
#include <cerrno>

namespace pinfold::test {
namespace {

class Records : public TemporaryDirectory {
protected:
    Records() : directory(top() / "run/jobs"), store(directory) { EXPECT_TRUE(store.prepare()); }

    static JobRecord record(const std::string& key) { return {"id of " + key, "boot", *JobKey::parse(key)}; }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(directory))
            names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        return names;
    }

    std::filesystem::path directory;
    RecordStore store;
};

using Names = std::vector<std::string>;

} // namespace

TEST_F(Records, whatIsSavedIsLoaded) {
    auto first = record("sge.1");
    first.state = JobState::Running;
    first.tasks[0].leader = ProcessIdentity{4711, fromUsec<BootTime>(12)};
    const auto second = record("pbs.12[7].server");
    ASSERT_TRUE(store.save(first));
    ASSERT_TRUE(store.save(second));
    auto loaded = *store.load();
    EXPECT_EQ(loaded.unreadable, Names{});
    std::sort(loaded.records.begin(), loaded.records.end(), [](const auto& a, const auto& b) { return b.key < a.key; });
    EXPECT_EQ(loaded.records, (std::vector{first, second}));
}

TEST_F(Records, aSaveReplaces) {
    auto job = record("sge.1");
    ASSERT_TRUE(store.save(job));
    job.state = JobState::Ending;
    ASSERT_TRUE(store.save(job));
    EXPECT_EQ(files(), Names{"sge.1.json"});
    EXPECT_EQ(store.load()->records, std::vector{job});
}

TEST_F(Records, theMessageSaysWhatIsInTheDirectorysPlace) {
    const auto file = write("run/file", "");
    errno = 0;
    const auto prepared = RecordStore(file).prepare();
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().message, file.string() + ": Not a directory");
}

TEST_F(Records, theyArePrivate) {
    ASSERT_TRUE(store.save(record("sge.1")));
    EXPECT_EQ(modeOf(directory), "700");
    EXPECT_EQ(modeOf(directory / "sge.1.json"), "600");
}

TEST_F(Records, aRemovedOneIsGoneAndRemovedAgainIsNoError) {
    const auto job = record("sge.1");
    ASSERT_TRUE(store.save(job));
    EXPECT_TRUE(store.remove(job.key));
    EXPECT_TRUE(store.remove(job.key));
    EXPECT_EQ(files(), Names{});
}

TEST_F(Records, aHalfWrittenFileIsSweptAndHidesNothing) {
    const auto job = record("sge.1");
    ASSERT_TRUE(store.save(job));
    write("run/jobs/.sge.1.json.tmp", "{\"ver");
    const auto loaded = *store.load();
    EXPECT_EQ(loaded.records, std::vector{job});
    EXPECT_EQ(loaded.unreadable, Names{});
    EXPECT_EQ(files(), Names{"sge.1.json"});
}

TEST_F(Records, aReaderBesideTheWriterTouchesNothing) {
    const auto job = record("sge.1");
    ASSERT_TRUE(store.save(job));
    write("run/jobs/.sge.1.json.tmp", "{\"ver");
    const auto loaded = *store.read();
    EXPECT_EQ(loaded.records, std::vector{job});
    EXPECT_EQ(loaded.unreadable, Names{});
    EXPECT_EQ(files(), (Names{".sge.1.json.tmp", "sge.1.json"}));
    std::filesystem::remove_all(directory);
    EXPECT_TRUE(store.read()->records.empty());
}

TEST_F(Records, nothingIsPassedOverInSilence) {
    ASSERT_TRUE(store.save(record("sge.1")));
    std::filesystem::copy_file(directory / "sge.1.json", directory / "sge.2.json");
    write("run/jobs/sge.3.json", "");
    write("run/jobs/sge.4.json", "{}");
    write("run/jobs/README", "hello");
    write("run/jobs/od\nd.json", "[");
    std::filesystem::create_directory(directory / "sge.5.json");
    std::filesystem::create_symlink("sge.1.json", directory / "sge.6.json");
    auto loaded = *store.load();
    EXPECT_EQ(loaded.records, std::vector{record("sge.1")});
    ASSERT_EQ(loaded.unreadable.size(), 7U);
    for (const char* name : {"sge.2.json: the file contains the record of another job, sge.1",
                             "sge.3.json: ", "sge.4.json: ", "README: ", "od\\x0ad.json: ", "sge.5.json: ", "sge.6.json: "})
        EXPECT_EQ(std::count_if(loaded.unreadable.begin(), loaded.unreadable.end(),
                                [name](const std::string& line) { return line.find(name) != std::string::npos; }),
                  1)
            << name;
    for (const auto& line : loaded.unreadable)
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    EXPECT_EQ(files().size(), 8U) << "what can't be read is kept for people";
}

TEST_F(Records, aDirectoryThatIsNotThereIsAnError) {
    std::filesystem::remove_all(directory);
    EXPECT_EQ(store.load().error().code, ErrorCode::Internal);
    EXPECT_EQ(store.save(record("sge.1")).error().code, ErrorCode::Internal);
    write("run/jobs", "a file");
    const auto prepared = store.prepare();
    ASSERT_FALSE(prepared);
    EXPECT_NE(prepared.error().message.find(directory.string()), std::string::npos) << prepared.error().message;
}

TEST_F(Records, aFailureLeavesTheOldRecord) {
    const auto job = record("sge.1");
    ASSERT_TRUE(store.save(job));
    std::filesystem::create_directory(directory / ".sge.1.json.tmp");
    EXPECT_EQ(store.save(job).error().code, ErrorCode::Internal);
    EXPECT_EQ(store.load()->records, std::vector{job});
}

} // namespace pinfold::test
