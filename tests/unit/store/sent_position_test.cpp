// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/sent_position.hpp"

#include "tests/support/cpp/mutation.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace pinfold::test {
namespace {

class SentFile : public TemporaryDirectory {
protected:
    std::optional<SentPosition> readText(const std::string& text) const {
        std::ofstream(file, std::ios::binary) << text;
        return readSentPosition(file);
    }

    const SentPosition position{"0f8fad5b", 4711, fromUsec<RealTime>(1'700'000'000'000'000)};
    const std::filesystem::path file = top() / "sent";
};

TEST_F(SentFile, whatIsWrittenIsRead) {
    EXPECT_EQ(readText(encode(position)), position);
    EXPECT_EQ(sentOf(file, "0f8fad5b"), 4711U);
    EXPECT_EQ(sentOf(file, "another"), 0U);
    EXPECT_EQ(sentOf(top() / "missing", "0f8fad5b"), 0U);
}

TEST_F(SentFile, anythingElseIsNoPosition) {
    for (const char* text : {"", "{}", "[]", "5", "{\"epoch\":\"a\"}", "{\"sequence\":5}", "{\"epoch\":5,\"sequence\":5}",
                             "not json", "{\"epoch\":\"a\",\"sequence\":-1}", "{\"epoch\":\"a\",\"sequence\":1.5}",
                             "{\"epoch\":\"a\",\"sequence\":true}", "{\"epoch\":\"a\",\"sequence\":\"5\"}"})
        EXPECT_FALSE(readText(text)) << text;
    EXPECT_FALSE(readText(encode(position) + std::string(4096, ' '))) << "too long";
}

TEST_F(SentFile, onlyARegularFileIsRead) {
    std::ofstream(top() / "real") << encode(position);
    std::filesystem::create_symlink("real", file);
    EXPECT_FALSE(readSentPosition(file)) << "a link";
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0644), 0);
    EXPECT_FALSE(readSentPosition(file)) << "a FIFO without a writer, which must not block";
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    EXPECT_FALSE(readSentPosition(file)) << "a directory";
}

TEST_F(SentFile, damageNeverThrows) {
    Mutator mutator;
    int readable = 0;
    for (int i = 0; i < 2000; ++i)
        readable += readText(mutator.mutate(encode(position))).has_value() ? 1 : 0;
    EXPECT_GT(readable, 0);
    EXPECT_LT(readable, 2000);
}

} // namespace
} // namespace pinfold::test
