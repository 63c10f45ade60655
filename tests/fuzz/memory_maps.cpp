// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfold reads the file /proc/PID/maps. Users choose the paths in the file, and the number of the file's lines.
#include "os/memory_maps.hpp"
#include "fuzz.hpp"

using namespace pinfold;

namespace {

constexpr FileId kFile{std::uint64_t{0xfe} << 32, 7};
const std::set<std::uint64_t> kDevices{kFile.device, std::uint64_t{8} << 32 | 0x11};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text(data, size);
    const auto files = mappedFiles(text, kDevices);
    bool good = true;
    std::set<FileId> ofLines;
    fuzz::forEachLine(text, [&](std::string_view line) {
        auto one = mappedFiles(std::string(line) + "\n", kDevices);
        good = good && one;
        if (one)
            ofLines.merge(*one);
    });
    fuzz::require(good == files.has_value(), "one line of another form makes the whole text one of another form");
    fuzz::require(!files || *files == ofLines, "the files of a text are those of its lines");
    ofLines.insert(kFile);
    const auto more = mappedFiles("1-2 r--p 0 fe:00 7 /a\n" + std::string(text), kDevices);
    fuzz::require(good == more.has_value() && (!more || *more == ofLines), "a further line adds only its file");
    for (const auto& file : ofLines)
        fuzz::require(kDevices.contains(file.device), "each file is on a wanted device");
    return 0;
}
