// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/device_amounts.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <algorithm>
#include <filesystem>

namespace pinfold {
namespace {

bool isDevicePath(std::string_view path) {
    return path.size() <= DeviceAmounts::kMaxPath && path.starts_with("/dev/") && path.size() > 5 &&
           std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c < 0x7f && c != ','; });
}

/// Returns false if the path could lead to a different device when systemd reads the path. pinfoldd looks up the device of a path
/// first, and systemd looks up the device later. Users can make and change links in /dev/shm. The content of /dev/fd differs from
/// process to process.
bool isSteady(std::string_view path) {
    return std::filesystem::path(path).lexically_normal().string() == path && !path.starts_with("/dev/shm/") &&
           !path.starts_with("/dev/fd/");
}

Error invalid(std::string_view text) {
    return {ErrorCode::InvalidArgument,
            "device amounts '" + printable(text, 200) + "' are not valid: use \"/dev/NAME AMOUNT\", separated by commas"};
}

} // namespace

Result<DeviceAmounts> DeviceAmounts::parse(std::string_view text) {
    auto list = parseStored(text);
    if (list && !list->dropUnsteady().empty())
        return invalid(text);
    return list;
}

Result<DeviceAmounts> DeviceAmounts::parseStored(std::string_view text) {
    DeviceAmounts list;
    for (std::size_t start = 0; start <= text.size();) {
        const auto end = std::min(text.find(',', start), text.size());
        const auto entry = trim(text.substr(start, end - start));
        const auto blank = std::min(entry.find(' '), entry.size());
        const auto path = entry.substr(0, blank);
        const auto amount = parseSize(trim(entry.substr(blank)));
        if (!isDevicePath(path) || !amount || !list.amounts.emplace(path, *amount).second || list.amounts.size() > kMaxDevices)
            return invalid(text);
        start = end + 1;
    }
    return list;
}

std::vector<std::string> DeviceAmounts::dropUnsteady() {
    std::vector<std::string> dropped;
    std::erase_if(amounts, [&dropped](const auto& entry) {
        if (isSteady(entry.first))
            return false;
        dropped.push_back(entry.first);
        return true;
    });
    return dropped;
}

std::string DeviceAmounts::toString() const {
    std::string text;
    for (const auto& [path, amount] : amounts)
        text += (text.empty() ? "" : ", ") + path + " " + (amount == kInfinity ? "infinity" : std::to_string(amount));
    return text;
}

} // namespace pinfold
