// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/hexadecimal.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

TEST(Hexadecimal, keepsEachByte) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte)
        all += static_cast<char>(byte);
    EXPECT_EQ(hexadecimal(all).substr(0, 34), "000102030405060708090a0b0c0d0e0f10");
    EXPECT_EQ(*fromHexadecimal(hexadecimal(all)), all);
    EXPECT_EQ(*fromHexadecimal(""), "");
}

TEST(Hexadecimal, refusesOtherTexts) {
    for (const char* text : {"0", "0g", "0A", "0x", " 0", "00 "}) {
        const auto bytes = fromHexadecimal(text);
        ASSERT_FALSE(bytes) << text;
        EXPECT_EQ(bytes.error().code, ErrorCode::InvalidArgument);
    }
}

} // namespace
} // namespace pinfold
