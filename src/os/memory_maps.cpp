// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/memory_maps.hpp"

#include "os/proc_text.hpp"

#include <algorithm>

namespace pinfold {
namespace {

// In a line of /proc/PID/maps, the fields before the path have fewer than kBeforeThePath bytes. mappedFile() reads only the first
// kBeforeThePath bytes of a line, because the path can have thousands of bytes.
constexpr std::size_t kBeforeThePath = 128;

/// Reads a line such as "55d0c8a2e000-55d0c8a30000 r--p 00000000 fe:00 1310842 /usr/bin/cat".
std::optional<FileId> mappedFile(std::string_view line) {
    const auto words = fields(line.substr(0, kBeforeThePath));
    if (words.size() < 5)
        return std::nullopt;
    const auto device = words[3];
    const auto colon = std::min(device.find(':'), device.size() - 1);
    const auto major = number<std::uint32_t>(device.substr(0, colon), 16);
    const auto minor = number<std::uint32_t>(device.substr(colon + 1), 16);
    const auto inode = number<std::uint64_t>(words[4]);
    if (!major || !minor || !inode)
        return std::nullopt;
    return FileId{std::uint64_t{*major} << 32 | *minor, *inode};
}

} // namespace

std::optional<std::set<FileId>> mappedFiles(std::string_view text, const std::set<std::uint64_t>& devices) {
    std::set<FileId> files;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto file = mappedFile(text.substr(0, end));
        if (!file)
            return std::nullopt;
        if (devices.contains(file->device))
            files.insert(*file);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return files;
}

} // namespace pinfold
