// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pinfold::test {

/// Replaces the first `from` in `text` by `to`, and returns the result. The test fails if `text` does not contain `from`.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const auto position = text.find(from);
    EXPECT_NE(position, std::string::npos) << from;
    return position == std::string::npos ? text : text.replace(position, from.size(), to);
}

} // namespace pinfold::test
