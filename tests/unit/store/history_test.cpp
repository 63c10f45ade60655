// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history_fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace pinfold::test {

TEST_F(HistoryFile, aReceiptComesBackAsItWas) {
    const auto written = receipt("a", "sge.1", 100);
    ASSERT_TRUE(open().write({{written}}));
    EXPECT_EQ(unnumbered(open().list({})->at(0)), written);
}

TEST_F(HistoryFile, itIsPrivate) {
    auto history = open();
    ASSERT_TRUE(history.write({{receipt("a", "sge.1", 100)}}));
    EXPECT_EQ(modeOf(file().parent_path()), "700");
    EXPECT_EQ(modeOf(file()), "600");
    EXPECT_EQ(modeOf(file().string() + "-wal"), "600");
}

TEST_F(HistoryFile, theModeThatAnAdminChoseStays) {
    ASSERT_TRUE(open().write({{receipt("a", "sge.1", 100)}}));
    std::filesystem::permissions(file(), std::filesystem::perms(0640));
    EXPECT_EQ(idsOf(open().list({})), Ids{"a"});
    EXPECT_EQ(modeOf(file()), "640");
}

TEST_F(HistoryFile, noJobIsCountedTwice) {
    auto history = open();
    auto first = receipt("a", "sge.1", 100);
    ASSERT_TRUE(history.write({{first, receipt("b", "sge.1", 101)}}));
    ASSERT_TRUE(history.write({{receipt("a", "sge.9", 999), receipt("c", "sge.3", 102)}}));
    EXPECT_EQ(idsOf(history.list({})), (Ids{"c", "b", "a"}));
    EXPECT_EQ(unnumbered(history.list(filter({}, {}, {}, {}, 3))->back()), first);
    EXPECT_TRUE(history.write({{}}));
}

/// Lists the receipts one by one. Each query returns the receipt that follows the receipt of the previous query.
Ids walk(const History& history, ReceiptFilter filter) {
    Ids ids;
    filter.limit = 1;
    for (auto page = history.list(filter); page && !page->empty(); page = history.list(filter)) {
        ids.push_back(page->front().id);
        filter.before = ids.back();
    }
    return ids;
}

TEST_F(HistoryFile, eachPageGoesOnWhereTheOneBeforeEnded) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    ASSERT_TRUE(history.write(
        {{receipt("same1", "sge.5", 500, 1), receipt("same2", "sge.6", 500, 2), receipt("same3", "pbs.1", 500, 1)}}));
    for (const auto& asked : {ReceiptFilter(), kinds("exited"), kinds({}, "sge"), kinds({}, "pbs", true), of(1, {}),
                              of(2, kinds({}, "sge")), filter("pbs.1"), of(1, filter("pbs.1")), filter({}, {}, 300, 700)}) {
        const auto whole = idsOf(history.list(asked));
        EXPECT_GE(whole.size(), 1U);
        EXPECT_EQ(walk(history, asked), whole);
    }
    ReceiptFilter gone;
    gone.before = "vacuumed";
    EXPECT_EQ(idsOf(history.list(gone)), Ids{});
}

TEST_F(HistoryFile, theFilterNarrows) {
    auto history = open();
    ASSERT_TRUE(history.write({{receipt("a", "sge.1", 100, 1), receipt("b", "sge.2", 200, 1), receipt("c", "sge.1", 300, 2),
                                receipt("d", "sge.1", 400, UINT32_MAX)}}));
    EXPECT_EQ(idsOf(history.list({})), (Ids{"d", "c", "b", "a"}));
    EXPECT_EQ(idsOf(history.list(filter("sge.1"))), (Ids{"d", "c", "a"}));
    EXPECT_EQ(idsOf(history.list(filter("sge.%"))), Ids{});
    EXPECT_EQ(idsOf(history.list(filter({}, 1))), (Ids{"b", "a"}));
    EXPECT_EQ(idsOf(history.list(filter({}, UINT32_MAX))), Ids{"d"});
    EXPECT_EQ(idsOf(history.list(filter({}, {}, 200))), (Ids{"d", "c", "b"}));
    EXPECT_EQ(idsOf(history.list(filter({}, {}, {}, 200))), Ids{"a"});
    EXPECT_EQ(idsOf(history.list(filter({}, {}, 100, 400, 2))), (Ids{"c", "b"}));
    EXPECT_EQ(idsOf(history.list(filter("sge.1", 2, 300, 301))), Ids{"c"});
    EXPECT_EQ(idsOf(history.list(filter({}, {}, {}, UINT64_MAX))).size(), 4U);
    EXPECT_EQ(idsOf(history.list(filter({}, {}, UINT64_MAX))), Ids{});
}

TEST_F(HistoryFile, theLastManualNumberIsTheLargest) {
    auto history = open();
    EXPECT_EQ(*history.lastManualNumber(), 0U);
    ASSERT_TRUE(
        history.write({{receipt("a", "manual.9", 3), receipt("b", "manual.10", 2), receipt("c", "sge.77", 4),
                        receipt("d", "manual.nightly", 5), receipt("e", "manuals.500", 6), receipt("f", "manua.600", 6)}}));
    EXPECT_EQ(*history.lastManualNumber(), 10U);
}

TEST_F(HistoryFile, aReaderSeesWhatTheWriterAddsMeanwhile) {
    auto writer = open();
    ASSERT_TRUE(writer.write({{receipt("a", "sge.1", 100)}}));
    auto reader = open(History::Mode::ReadOnly);
    EXPECT_EQ(idsOf(reader.list({})), Ids{"a"});
    ASSERT_TRUE(writer.write({{receipt("b", "sge.1", 101)}}));
    EXPECT_EQ(idsOf(reader.list({})), (Ids{"b", "a"}));
    EXPECT_EQ(reader.write({{receipt("c", "sge.1", 102)}}).error().code, ErrorCode::Internal);
}

TEST_F(HistoryFile, aReaderNeedsNoWritableDirectory) {
    ASSERT_TRUE(open().write({{receipt("a", "sge.1", 100)}}));
    ASSERT_FALSE(std::filesystem::exists(file().string() + "-wal"));
    for (const auto& path : {top(), file().parent_path()})
        std::filesystem::permissions(path, std::filesystem::perms(0555));
    std::filesystem::permissions(file(), std::filesystem::perms(0444));
    const auto child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) // root ignores the permissions of files
            ::_exit(2);
        const auto reader = tryOpen(History::Mode::ReadOnly);
        const auto receipts = reader ? reader->list({}) : Result<std::vector<Receipt>>(reader.error());
        ::_exit(receipts && receipts->size() == 1 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    for (const auto& path : {top(), file().parent_path()})
        std::filesystem::permissions(path, std::filesystem::perms(0755));
}

TEST_F(HistoryFile, aReaderCreatesNothing) {
    const auto reader = tryOpen(History::Mode::ReadOnly);
    ASSERT_FALSE(reader);
    EXPECT_NE(reader.error().message.find(file().string()), std::string::npos) << reader.error().message;
    EXPECT_FALSE(std::filesystem::exists(file().parent_path()));
}

TEST_F(HistoryFile, itsDirectoryMayBeElsewhere) {
    std::filesystem::create_directory(top() / "big disk");
    std::filesystem::create_directory_symlink(top() / "big disk", file().parent_path());
    ASSERT_TRUE(open().write({{receipt("a", "sge.1", 100)}}));
    EXPECT_EQ(idsOf(open(History::Mode::ReadOnly).list({})), Ids{"a"});
}

TEST_F(HistoryFile, aNewerSchemaIsLeftAlone) {
    ASSERT_TRUE(open().write({{receipt("a", "sge.1", 100)}}));
    sql("PRAGMA user_version = 6");
    for (const auto mode : {History::Mode::ReadWrite, History::Mode::ReadOnly}) {
        const auto opened = tryOpen(mode);
        ASSERT_FALSE(opened);
        EXPECT_NE(opened.error().message.find("newer pinfold (schema 6): install that pinfold"), std::string::npos)
            << opened.error().message;
    }
}

TEST_F(HistoryFile, whatIsNoDatabaseIsSaidAndKept) {
    write("lib dir/history#1?%41.db", std::string(4096, 'x'));
    const auto opened = tryOpen();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().message, file().string() + ": history: file is not a database");
    EXPECT_EQ(std::filesystem::file_size(file()), 4096U);
}

TEST_F(HistoryFile, aDamagedReceiptIsAnError) {
    ASSERT_TRUE(open().write({{receipt("a", "sge.1", 100)}}));
    sql("UPDATE receipts SET receipt = '{'");
    EXPECT_FALSE(open().list({}));
}

TEST_F(HistoryFile, anAddThatFailsAddsNothing) {
    auto history = open();
    sql("CREATE TRIGGER full BEFORE INSERT ON receipts WHEN new.id = 'b' BEGIN SELECT raise(FAIL, 'disk full'); END");
    const auto failed = history.write({{receipt("a", "sge.1", 100), receipt("b", "sge.2", 101)}});
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("disk full"), std::string::npos) << failed.error().message;
    EXPECT_EQ(idsOf(history.list({})), Ids{});
    EXPECT_TRUE(history.write({{receipt("a", "sge.1", 100)}}));
}

} // namespace pinfold::test
