// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/fuse_mounts.hpp"

#include "base/parse.hpp"
#include "os/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;
constexpr std::uint64_t kFirstOrdinaryUser = 1000;
// In the kernel's own device numbers, the minor number has 20 bits. The name of a FUSE connection in sysfs is a device number of
// the kernel.
constexpr int kMinorBits = 20;
constexpr const char* kConnections = "sys/fs/fuse/connections";

struct Mount {
    std::string device; ///< the device number of the file system, for example "0:57"
    std::string type;
    std::string options; ///< the file system's own options; the options of the mount are not included
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

/// Returns the name of the FUSE connection of `device`, or nothing if `device` is not a device number.
std::optional<std::string> connectionOf(std::string_view device) {
    const auto colon = device.find(':');
    if (colon == std::string_view::npos)
        return std::nullopt;
    const auto major = parseUnsigned(device.substr(0, colon));
    const auto minor = parseUnsigned(device.substr(colon + 1));
    if (!major || !minor)
        return std::nullopt;
    return std::to_string(*major << kMinorBits | *minor);
}

/// Returns the FUSE connections of the file systems that the node itself has mounted. Returns nothing if pinfold cannot list the
/// FUSE connections.
std::optional<std::set<std::string>> nodesConnections(const std::filesystem::path& root) {
    const auto mounts = readFile(AT_FDCWD, (root / "proc/self/mountinfo").c_str(), kMostBytes);
    if (!mounts || mounts->empty() || mounts->size() == kMostBytes)
        return std::nullopt;
    std::set<std::string> found;
    std::istringstream lines(*mounts);
    for (std::string line; std::getline(lines, line);) {
        const auto mount = parseLine(line);
        if (!mount)
            return std::nullopt;
        if (!isFuse(mount->type) || isAUsers(mount->options))
            continue;
        auto connection = connectionOf(mount->device);
        if (!connection)
            return std::nullopt;
        found.insert(std::move(*connection));
    }
    return found;
}

bool belongsToAUser(const std::filesystem::path& directory) {
    struct stat status {};
    return ::stat(directory.c_str(), &status) == 0 && status.st_uid >= kFirstOrdinaryUser;
}

} // namespace

bool nodesFuseServersAnswer(const std::filesystem::path& root) {
    const auto connections = nodesConnections(root);
    return connections && std::ranges::all_of(*connections, [&root](const std::string& connection) {
               return readFile(AT_FDCWD, (root / kConnections / connection / "waiting").c_str()) == "0\n";
           });
}

bool usersServeFuse(const std::filesystem::path& root) {
    const auto nodes = nodesConnections(root);
    if (!nodes)
        return false;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(root / kConnections, error), end; !error && entry != end;
         entry.increment(error))
        if (!nodes->contains(entry->path().filename()) && belongsToAUser(entry->path()))
            return true;
    return false;
}

} // namespace pinfold
