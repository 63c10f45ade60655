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

/// pinfold reads at most kMaxGridEngineFile bytes of a spool file. (A spool file can be large, because it has the job's
/// arguments.)
constexpr std::size_t kMaxGridEngineFile = 4 << 20;

/// Holds the "name=value" lines of a file in a job's spool directory (the files config and usage, see sge_shepherd(8)). Grid
/// Engine's sge_execd does not escape line breaks. If an argument or a path of the job contains a line break, the user can add a
/// line to the spool file. A name can have several values in a spool file, and each value is possibly from a user.
class GridEngineConfig {
public:
    static GridEngineConfig parse(std::string_view text);

    /// Returns all values of a name, in the order of the file. If the file does not contain the name, the list of values is
    /// empty.
    const std::vector<std::string>& values(std::string_view name) const;
    /// Returns the last value of a name, or an empty text if the name has no value. If a name has several values, sge_shepherd
    /// uses the last value.
    std::string value(std::string_view name) const;

private:
    std::map<std::string, std::vector<std::string>, std::less<>> entries_;
};

/// Reads a text such as "2G", "1.5M" or "0x400K" as a memory limit of Grid Engine (sge_types(1)). Upper case suffixes are powers
/// of 1024, and lower case suffixes are powers of 1000. Returns nullopt for INFINITY, for UNDEFINED, and for a text that is not
/// a limit. The largest limit that parseGridEngineMemory() returns is 2^63 - 1 bytes.
std::optional<std::uint64_t> parseGridEngineMemory(std::string_view text);

} // namespace pinfold
