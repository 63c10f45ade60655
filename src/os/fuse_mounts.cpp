// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/fuse_mounts.hpp"

#include "base/parse.hpp"
#include "os/read_file.hpp"

#include <fcntl.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace pinfold {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;
constexpr std::uint64_t kFirstOrdinaryUser = 1000;
constexpr int kMinorBits = 20; // in the kernel's dev_t, which is the name of a FUSE connection in sysfs

struct Mount {
    std::string device; ///< for example "0:57"
    std::string type;
    std::string options; ///< the options of the file system, not of the mount
};

std::optional<Mount> parseLine(const std::string& line) {
    const auto separator = line.find(" - ");
    if (separator == std::string::npos)
        return std::nullopt;
    std::istringstream before(line.substr(0, separator));
    std::istringstream after(line.substr(separator + 3));
    Mount mount;
    std::string ignored;
    before >> ignored >> ignored >> mount.device;
    after >> mount.type >> ignored >> mount.options;
    return after ? std::optional(std::move(mount)) : std::nullopt;
}

bool isFuse(std::string_view type) {
    return type == "fuse" || type.starts_with("fuse.") || type == "fuseblk" || type == "virtiofs";
}

bool isAUsers(std::string_view options) {
    constexpr std::string_view key = "user_id=";
    const auto at = options.find(key);
    if (at == std::string_view::npos)
        return false;
    const auto rest = options.substr(at + key.size());
    const auto user = parseUnsigned(rest.substr(0, rest.find(',')));
    return user && *user >= kFirstOrdinaryUser;
}

/// Returns true if no request waits for the file server. Returns false also if pinfold cannot know that.
bool answers(const std::filesystem::path& root, std::string_view device) {
    const auto colon = device.find(':');
    if (colon == std::string_view::npos)
        return false;
    const auto major = parseUnsigned(device.substr(0, colon));
    const auto minor = parseUnsigned(device.substr(colon + 1));
    if (!major || !minor)
        return false;
    const auto file = root / "sys/fs/fuse/connections" / std::to_string(*major << kMinorBits | *minor) / "waiting";
    const auto text = readFile(AT_FDCWD, file.c_str());
    return text == "0\n";
}

} // namespace

bool nodesFuseServersAnswer(const std::filesystem::path& root) {
    const auto mounts = readFile(AT_FDCWD, (root / "proc/self/mountinfo").c_str(), kMostBytes);
    if (!mounts || mounts->empty() || mounts->size() == kMostBytes)
        return false;
    std::istringstream lines(*mounts);
    for (std::string line; std::getline(lines, line);) {
        const auto mount = parseLine(line);
        if (!mount)
            return false;
        if (isFuse(mount->type) && !isAUsers(mount->options) && !answers(root, mount->device))
            return false;
    }
    return true;
}

} // namespace pinfold
