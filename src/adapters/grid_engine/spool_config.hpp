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

/// The most bytes that are read of a spool file, which has the job's arguments.
constexpr std::size_t kMaxGridEngineFile = 4 << 20;

/// "name=value" lines of a job's spool directory (the files config and usage; sge_shepherd(8)). sge_execd escapes nothing: with a
/// line break in a job's argument or path a user can add lines. So a name may occur more than once, and each of its values may be
/// the user's.
class GridEngineConfig {
public:
    static GridEngineConfig parse(std::string_view text);

    /// All values of a name, in the order of the file; empty: there is none.
    const std::vector<std::string>& values(std::string_view name) const;
    /// The last value of a name, which is the one that sge_shepherd uses; empty: there is none.
    std::string value(std::string_view name) const;

private:
    std::map<std::string, std::vector<std::string>, std::less<>> entries_;
};

/// Reads a memory limit as in sge_types(1): "2G", "1.5M", "0x400K". Upper case letters are powers of 1024, lower case letters
/// powers of 1000. nullopt: INFINITY, UNDEFINED, or a text that cannot be read. At most 2^63 - 1 bytes.
std::optional<std::uint64_t> parseGridEngineMemory(std::string_view text);

} // namespace pinfold
