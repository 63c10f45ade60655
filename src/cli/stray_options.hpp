// SPDX-License-Identifier: LGPL-2.1-or-later
// Read the texts of the options of `pinfold strays`, which have the ranges of [strays]. Each may give the error InvalidArgument.
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
/// Splits "a,b" into its names.
Result<std::vector<std::string>> parseNames(const std::string& text);
Result<StrayKinds> parseKinds(const std::string& text);
/// Reads a mode. Unset: the text is "configured".
Result<std::optional<StraysMode>> parseStraysMode(const std::string& text);

std::string_view toString(StraysMode mode);

} // namespace pinfold
