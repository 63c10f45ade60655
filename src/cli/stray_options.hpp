// SPDX-License-Identifier: LGPL-2.1-or-later
// The texts of options of `pinfold strays`, in the ranges of [strays]. Error of each: InvalidArgument.
#pragma once

#include "base/result.hpp"
#include "config/strays_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

Result<std::uint32_t> parseUserId(const std::string& text);
Result<std::uint32_t> parseKills(const std::string& text);
Result<std::uint64_t> parseLeast(const std::string& text);
Result<std::uint64_t> parseStrayGrace(const std::string& text);
/// "a,b"
Result<std::vector<std::string>> parseNames(const std::string& text);
Result<StrayKinds> parseKinds(const std::string& text);
/// Unset: "configured".
Result<std::optional<StraysMode>> parseStraysMode(const std::string& text);

std::string_view toString(StraysMode mode);

} // namespace pinfold
