// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/drain.hpp"

#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

const Drain kFull{
    .reason = "new disk \\x1b \"quoted\" für morgen", .since = fromUsec<RealTime>(1'700'000'000'000'000), .by = 4'294'967'294U};

TEST(Drain, comesBack) {
    for (const auto& drain : {Drain{.reason = {}, .since = fromUsec<RealTime>(0), .by = 0}, kFull}) {
        const auto decoded = decodeDrain(encode(drain));
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_EQ(*decoded, drain);
    }
}

TEST(Drain, refusesWhatItCanNotHaveWritten) {
    for (const char* text :
         {"", "{}\n", "null\n", "{\"version\":1,\"reason\":\"x\",\"since\":1,\"by\":4294967296}\n",
          "{\"version\":2,\"reason\":\"x\",\"since\":1,\"by\":0}\n", "{\"version\":1,\"reason\":7,\"since\":1,\"by\":0}\n",
          "{\"version\":1,\"reason\":\"x\",\"since\":1,\"by\":0,\"more\":1}\n"})
        EXPECT_FALSE(decodeDrain(text)) << text;
}

TEST(Drain, damageNeverThrows) {
    Mutator mutator;
    const auto text = encode(kFull);
    int refused = 0;
    for (int i = 0; i < 5000; ++i)
        refused += decodeDrain(mutator.mutate(text)) ? 0 : 1;
    EXPECT_GT(refused, 2500);
}

} // namespace
} // namespace pinfold
