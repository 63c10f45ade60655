// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// The most that is read of a spool file, bytes. A job's arguments are in there.
constexpr std::size_t kMaxGridEngineFile = 4 << 20;

/// "name=value" lines of a job's spool directory (the files config and usage; sge_shepherd(8)). sge_execd escapes nothing: a line
/// break in a job's argument or path makes lines of the user's own. So a name may be there more than once, and each of its
/// values may be the user's.
class GridEngineConfig {
public:
    static GridEngineConfig parse(std::string_view text);

    /// In their order in the file; empty: there is none.
    const std::vector<std::string>& values(std::string_view name) const;
    /// The last, which is sge_shepherd's; empty: there is none.
    std::string value(std::string_view name) const;

private:
    std::map<std::string, std::vector<std::string>, std::less<>> entries_;
};

/// A memory limit as sge_types(1) has it: "2G", "1.5M", "0x400K"; upper case letters are powers of 1024, lower case ones of 1000.
/// nullopt: INFINITY, UNDEFINED, or what can't be read. At most 2^63 - 1 bytes.
std::optional<std::uint64_t> parseGridEngineMemory(std::string_view text);

} // namespace pinfold
