// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/exposition.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

TEST(Exposition, aMetricHasItsHeadAndItsSamples) {
    Exposition out;
    out.metric("a_total", "counter", "What it is.");
    out.sample({}, 3);
    out.metric("b", "gauge", "Another.");
    out.sample({{"x", "1"}, {"y", "2"}}, UINT64_MAX);
    EXPECT_EQ(out.text(), "# HELP a_total What it is.\n"
                          "# TYPE a_total counter\n"
                          "a_total 3\n"
                          "# HELP b Another.\n"
                          "# TYPE b gauge\n"
                          "b{x=\"1\",y=\"2\"} 18446744073709551615\n");
}

TEST(Exposition, labelValuesAreEscaped) {
    Exposition out;
    out.metric("a", "gauge", "h");
    out.sample({{"x", "back\\slash \"quoted\" line\nbreak"}}, 1);
    EXPECT_TRUE(out.text().ends_with("a{x=\"back\\\\slash \\\"quoted\\\" line\\nbreak\"} 1\n")) << out.text();
}

TEST(Exposition, microsecondsAreSecondsToTheLastDigit) {
    Exposition out;
    out.metric("a", "gauge", "h");
    for (const Microseconds time : {0us, 1us, 2500us, 1'000'000us, 10'000'000us, 12'345'600us})
        out.seconds({}, time);
    out.seconds({}, kForever);
    EXPECT_TRUE(out.text().ends_with("a 0\na 0.000001\na 0.0025\na 1\na 10\na 12.3456\na 18446744073709.551615\n")) << out.text();
}

TEST(Exposition, differencesHaveASign) {
    Exposition out;
    out.metric("a", "gauge", "h");
    for (const std::chrono::microseconds difference : {0us, 2500us, -2500us, -12'345'600us, -std::chrono::microseconds::max()})
        out.signedSeconds({}, difference);
    EXPECT_TRUE(out.text().ends_with("a 0\na 0.0025\na -0.0025\na -12.3456\na -9223372036854.775807\n")) << out.text();
}

TEST(Exposition, bucketsAreCumulativeAndIncludeTheirBound) {
    DurationHistogram durations;
    for (const Microseconds time : {900us, 1000us, 1001us, 40'000'000us, 45'000'001us})
        durations.observe(time);
    Exposition out;
    out.metric("a_seconds", "histogram", "h");
    out.histogram(durations);
    EXPECT_EQ(out.text(), "# HELP a_seconds h\n"
                          "# TYPE a_seconds histogram\n"
                          "a_seconds_bucket{le=\"0.001\"} 2\n"
                          "a_seconds_bucket{le=\"0.0025\"} 3\n"
                          "a_seconds_bucket{le=\"0.005\"} 3\n"
                          "a_seconds_bucket{le=\"0.01\"} 3\n"
                          "a_seconds_bucket{le=\"0.025\"} 3\n"
                          "a_seconds_bucket{le=\"0.05\"} 3\n"
                          "a_seconds_bucket{le=\"0.1\"} 3\n"
                          "a_seconds_bucket{le=\"0.25\"} 3\n"
                          "a_seconds_bucket{le=\"1\"} 3\n"
                          "a_seconds_bucket{le=\"5\"} 3\n"
                          "a_seconds_bucket{le=\"15\"} 3\n"
                          "a_seconds_bucket{le=\"45\"} 4\n"
                          "a_seconds_bucket{le=\"+Inf\"} 5\n"
                          "a_seconds_sum 85.002902\n"
                          "a_seconds_count 5\n");
}

} // namespace
} // namespace pinfold
