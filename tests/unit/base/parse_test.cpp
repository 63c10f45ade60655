// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

namespace pinfold {
namespace {

/// If a result is an error, valueOf() returns kRefused.
constexpr std::uint64_t kRefused = UINT64_MAX - 1;

template <class T> std::uint64_t valueOf(const Result<T>& result) {
    if constexpr (kIsTime<T>) {
        if (result)
            return toUsec(*result);
    } else if (result) {
        return static_cast<std::uint64_t>(*result);
    }
    EXPECT_EQ(result.error().code, ErrorCode::InvalidArgument);
    EXPECT_FALSE(result.error().message.empty());
    return kRefused;
}

struct Amount {
    const char* text;
    std::uint64_t value;
};

TEST(ParseSize, understands) {
    for (const auto& [text, value] : {Amount{"0", 0},
                                      {"4096", 4096},
                                      {"64K", 65536},
                                      {"64k", 65536},
                                      {"1.5G", 1610612736},
                                      {"1M", 1 << 20},
                                      {"2MB", 2 << 20},
                                      {"2MiB", 2 << 20},
                                      {"2mib", 2 << 20},
                                      {"1T", 1ULL << 40},
                                      {"1P", 1ULL << 50},
                                      {"0.5K", 512},
                                      {"infinity", kInfinity}})
        EXPECT_EQ(valueOf(parseSize(text)), value) << text;
}

TEST(ParseSize, refuses) {
    for (const char* text : {"", " ", "K", "-1", "+1", "4 apples", "1KK", "1iB", "1e3", "0x10", "1,5G", "99999999999P",
                             "18446744073709551616", "infinite", "nan", "inf", "."})
        EXPECT_EQ(valueOf(parseSize(text)), kRefused) << text;
}

TEST(ParseDuration, understands) {
    for (const auto& [text, value] : {Amount{"90", 90'000'000},
                                      {"0", 0},
                                      {"1.5s", 1'500'000},
                                      {"250ms", 250'000},
                                      {"7us", 7},
                                      {"2h 30min", 9'000'000'000},
                                      {"2h30min", 9'000'000'000},
                                      {"1d", 86'400'000'000},
                                      {"1w", 604'800'000'000},
                                      {"5 min", 300'000'000},
                                      {"1m", 60'000'000},
                                      {"1:30:00", 5'400'000'000},
                                      {" 0:00:07 ", 7'000'000},
                                      {"100:00:00", 360'000'000'000},
                                      {"2-06:00:01", 194'401'000'000},
                                      {"infinity", kInfinity}})
        EXPECT_EQ(valueOf(parseDuration(text)), value) << text;
}

TEST(ParseDuration, refuses) {
    for (const char* text : {"",
                             "s",
                             "-1s",
                             "1 fortnight",
                             "1h-1min",
                             "99999999999999999999s",
                             "1..5s",
                             "h1",
                             "forever",
                             "1:30",
                             "1:60:00",
                             "1:00:60",
                             "1:0:0",
                             "1:00:000",
                             ":00:00",
                             "1-24:00:00",
                             "-1:00:00",
                             "1-:00:00",
                             "1:+1:00",
                             "1:00:00s",
                             "1-30:00",
                             "18446744073709551615-00:00:00",
                             "5124095577:00:00"})
        EXPECT_EQ(valueOf(parseDuration(text)), kRefused) << text;
}

TEST(ParseCpuQuota, isPercentOfOneCpu) {
    for (const auto& [text, value] :
         {Amount{"150%", 1'500'000}, {"100%", 1'000'000}, {"1%", 10'000}, {"0.5%", 5'000}, {"infinity", kInfinity}})
        EXPECT_EQ(valueOf(parseCpuQuota(text)), value) << text;
    for (const char* text : {"", "%", "150", "-5%", "5%%", "99999999999999999999%"})
        EXPECT_EQ(valueOf(parseCpuQuota(text)), kRefused) << text;
}

TEST(ParseUnsigned, takesDigitsOnly) {
    for (const auto& [text, value] : {Amount{"0", 0}, {"007", 7}, {"18446744073709551615", UINT64_MAX}})
        EXPECT_EQ(valueOf(parseUnsigned(text)), value) << text;
    for (const char* text : {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "18446744073709551616"})
        EXPECT_EQ(valueOf(parseUnsigned(text)), kRefused) << text;
}

TEST(ParseSignal, understandsNamesAndNumbers) {
    for (const char* text : {"TERM", "SIGTERM", "term", "sigterm", "15"})
        EXPECT_EQ(valueOf(parseSignal(text)), static_cast<std::uint64_t>(SIGTERM)) << text;
    EXPECT_EQ(valueOf(parseSignal("RTMIN")), static_cast<std::uint64_t>(SIGRTMIN));
    EXPECT_EQ(valueOf(parseSignal("RTMIN+1")), static_cast<std::uint64_t>(SIGRTMIN + 1));
    EXPECT_EQ(valueOf(parseSignal("SIGRTMAX-2")), static_cast<std::uint64_t>(SIGRTMAX - 2));
    for (const char* text : {"", "0", "65", "-9", "SIG", "NOPE", "RTMIN-1", "RTMIN+", "RTMIN+99", "TERM ", "SIGSIGTERM"})
        EXPECT_EQ(valueOf(parseSignal(text)), kRefused) << text;
}

TEST(SignalName, comesBackForEveryNamedSignal) {
    EXPECT_EQ(signalName(SIGTERM), "SIGTERM");
    EXPECT_EQ(signalName(33), "signal 33");
    for (int signal = 1; signal <= 31; ++signal)
        EXPECT_EQ(valueOf(parseSignal(signalName(signal))), static_cast<std::uint64_t>(signal)) << signalName(signal);
}

TEST(FormatSize, writesOneDecimalAtMost) {
    EXPECT_EQ(formatSize(1536), "1.5K");
    EXPECT_EQ(formatSize(1024), "1K");
    EXPECT_EQ(formatSize(4ULL << 30), "4G");
    EXPECT_EQ(formatSize(kInfinity), "infinity");
}

TEST(FormatSize, comesBackWithinItsPrecision) {
    for (std::uint64_t size = 1; size < 1ULL << 50; size = size * 3 + 1) {
        const auto back = valueOf(parseSize(formatSize(size)));
        EXPECT_NEAR(static_cast<double>(back), static_cast<double>(size), static_cast<double>(size) * 0.1) << formatSize(size);
    }
}

TEST(FormatDuration, writesTheTwoLargestUnits) {
    EXPECT_EQ(formatDuration(90min), "1h 30min");
    EXPECT_EQ(formatDuration(90'061'000'001us), "1d 1h");
    EXPECT_EQ(formatDuration(119'999ms), "1min 59s");
    EXPECT_EQ(formatDuration(59'999ms), "59.9s");
    EXPECT_EQ(formatDuration(1'151ms), "1.1s");
    EXPECT_EQ(formatDuration(2'027ms), "2s");
    EXPECT_EQ(formatDuration(692'047us), "692ms");
    EXPECT_EQ(formatDuration(7'933us), "7.9ms");
    EXPECT_EQ(formatDuration(487us), "487us");
    EXPECT_EQ(formatDuration(0us), "0");
    EXPECT_EQ(formatDuration(250ms), "250ms");
    EXPECT_EQ(formatDuration(60s), "1min");
    EXPECT_EQ(formatDuration(kForever), "infinity");
    EXPECT_EQ(valueOf(parseDuration(formatDuration(0s))), 0U);
}

TEST(FormatUtc, isIso8601) {
    EXPECT_EQ(formatUtc(RealTime()), "1970-01-01T00:00:00Z");
    EXPECT_EQ(formatUtc(fromUsec<RealTime>(951'827'696'999'999)), "2000-02-29T12:34:56Z");
}

TEST(Parse, refusesDamagedTextInOneSafeLine) {
    Mutator mutator;
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        const auto text = mutator.mutate("1.5G 2h 30min 150% RTMIN+1");
        const auto check = [&](const auto& result) {
            if (result)
                return;
            ++refused;
            EXPECT_EQ(result.error().code, ErrorCode::InvalidArgument);
            // The message must be safe to print, so printable() must change nothing but the backslashes of the message.
            auto message = result.error().message;
            std::replace(message.begin(), message.end(), '\\', '~');
            EXPECT_EQ(printable(message), message);
        };
        const std::string_view view = text;
        check(parseSize(view.substr(0, 4)));
        check(parseDuration(view.substr(std::min<std::size_t>(5, view.size()), 8)));
        check(parseCpuQuota(view));
        check(parseUnsigned(view));
        check(parseSignal(view));
    }
    EXPECT_GT(refused, 0);
}

} // namespace
} // namespace pinfold
