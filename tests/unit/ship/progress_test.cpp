// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/progress.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include <cstdlib>
#include <ctime>

namespace pinfold::test {
namespace {

using Side = Shipment::Side;

constexpr RealTime kNoon{1'700'000'000s}; // 2023-11-14 22:13:20 UTC

Shipment::Step failed(ErrorCode code, const std::string& message, Side side = Side::Archive) {
    return {.failure = Shipment::Failure{side, {code, message}}};
}

class ProgressTest : public ::testing::Test {
protected:
    ProgressTest() {
        ::setenv("TZ", "UTC0", 1);
        ::tzset();
    }

    Progress progress;
};

TEST_F(ProgressTest, eachTroubleIsOneLineAndItsEndIsOne) {
    EXPECT_FALSE(progress.note({.receipts = 5}, 0, kNoon));
    const auto begun = progress.note(failed(ErrorCode::Unreachable, "connection refused"), 3, kNoon);
    ASSERT_TRUE(begun);
    EXPECT_TRUE(begun->trouble);
    EXPECT_NE(begun->text.find("connection refused"), std::string::npos) << begun->text;
    EXPECT_FALSE(progress.note(failed(ErrorCode::Unreachable, "no route to host"), 3, kNoon + 1h));
    EXPECT_FALSE(progress.note(failed(ErrorCode::TimedOut, "no answer within 10 s"), 3, kNoon + 2h));
    const auto other = progress.note(failed(ErrorCode::Denied, "the certificate has expired"), 3, kNoon + 3h);
    ASSERT_TRUE(other);
    EXPECT_NE(other->text.find("expired"), std::string::npos) << other->text;
    EXPECT_FALSE(progress.note(failed(ErrorCode::Denied, "the certificate has expired"), 3, kNoon + 4h));
    const auto over = progress.note({.receipts = 3}, 0, kNoon + 5h);
    ASSERT_TRUE(over);
    EXPECT_FALSE(over->trouble);
    EXPECT_NE(over->text.find("2023-11-14 22:13"), std::string::npos) << over->text;
    EXPECT_FALSE(progress.note({}, 0, kNoon + 6h));
}

TEST_F(ProgressTest, theTroubleOfPinfolddIsAnother) {
    EXPECT_TRUE(progress.note(failed(ErrorCode::Unreachable, "x"), 0, kNoon));
    EXPECT_TRUE(progress.note(failed(ErrorCode::Unreachable, "x", Side::Node), 0, kNoon));
}

TEST_F(ProgressTest, theStatusSaysWhatWaitsAndWhy) {
    EXPECT_EQ(progress.status(0), "all receipts are in the archive");
    EXPECT_EQ(progress.status(1), "1 receipt to send");
    progress.note(failed(ErrorCode::Unreachable, "bad\nnews"), 3, kNoon);
    EXPECT_EQ(progress.status(3), "3 receipts to send; the archive does not take receipts since 2023-11-14 22:13: bad\\x0anews");
    progress.note(failed(ErrorCode::Unreachable, "away", Side::Node), 0, kNoon + 1h);
    EXPECT_EQ(progress.status(0), "pinfoldd does not give its receipts since 2023-11-14 22:13: away");
}

TEST_F(ProgressTest, theMetricsAreThoseOfTheSteps) {
    const auto fresh = progress.metrics(0, {}, {});
    EXPECT_EQ(fresh.find("pinfold_ship_last_success_seconds"), std::string::npos);
    EXPECT_EQ(fresh.find("pinfold_ship_certificate_expires_seconds"), std::string::npos);
    EXPECT_EQ(fresh.find("pinfold_ship_clock_offset_seconds"), std::string::npos);
    progress.note({.receipts = 5}, 0, kNoon);
    progress.note(failed(ErrorCode::Internal, "x"), 2, kNoon + 1s);
    // The golden file ship.prom is an input of the tests of the alerts and of the dashboard.
    std::ifstream file(PINFOLD_GOLDEN "/ship.prom");
    const std::string golden{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(progress.metrics(2, kNoon + 24h, ArchiveView{-1'250ms, 4}), golden);
}

} // namespace
} // namespace pinfold::test
