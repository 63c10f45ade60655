// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Formats amounts for people, or as plain numbers if the user gave --bytes. An unknown amount is shown as "-".
struct Amounts {
    bool raw = false;

    std::string size(std::optional<std::uint64_t> bytes) const;
    std::string duration(std::optional<Microseconds> time) const;
    std::string quota(std::optional<std::uint64_t> usecPerSecond) const;
    static std::string number(std::optional<std::uint64_t> value);
};

} // namespace pinfold
