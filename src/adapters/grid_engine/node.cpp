// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/node.hpp"

#include "base/escape.hpp"
#include "os/read_file.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>

namespace pinfold {
namespace {

using std::filesystem::path;

constexpr const char* kShepherd = "sge_shepherd";
constexpr std::size_t kPasswdBuffer = 64 << 10; // the size of the buffer for getpwnam_r(3), in bytes

bool isProgram(const path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0111) != 0;
}

/// The parent of grid-engine-shepherd is sge_execd. execdsDirectory() returns the directory that contains the program sge_execd.
/// (On Debian, some programs of Grid Engine have a shell script of the same name, and the shell script is in another directory.)
path execdsDirectory() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/" + std::to_string(::getppid()) + "/exe", error).parent_path();
}

/// Returns "binary_path" from the cell's bootstrap file. sge_execd itself, and not the user, sets the environment variables that
/// name Grid Engine's cell.
path bootstrapDirectory() {
    const char* root = std::getenv("SGE_ROOT");
    const char* cell = std::getenv("SGE_CELL");
    if (!root || *root != '/')
        return {};
    const path file = path(root) / (cell && *cell ? cell : "default") / "common" / "bootstrap";
    auto text = readFile(AT_FDCWD, file.c_str()).value_or("");
    const std::string_view name = "binary_path";
    const auto line = text.starts_with(name) ? 0 : text.find("\n" + std::string(name));
    if (line == std::string::npos)
        return {};
    const auto from = text.find_first_not_of(" \t", text.find(name, line) + name.size());
    const auto to = text.find_first_of(" \t\n", from);
    return from == std::string::npos ? path() : path(text.substr(from, to - from));
}

/// Returns the cores of each CPU socket. Topology uses the lowest CPU of a core as the core's number. Within each CPU socket, the
/// cores are sorted by number. The CPU sockets are sorted by the lowest core number in each socket.
std::vector<std::vector<unsigned>> coresBySocket(const Topology& topology) {
    std::map<unsigned, std::set<unsigned>> ofPackage;
    for (const auto& place : topology.cpus)
        ofPackage[place.package].insert(place.core);
    std::vector<std::vector<unsigned>> sockets;
    for (const auto& [package, cores] : ofPackage)
        sockets.emplace_back(cores.begin(), cores.end());
    std::sort(sockets.begin(), sockets.end());
    return sockets;
}

} // namespace

Result<std::string> findRealShepherd() {
    const auto beside = execdsDirectory();
    const auto configured = bootstrapDirectory();
    for (const auto& directory : {beside, configured / "lx-amd64", configured})
        if (directory.is_absolute() && isProgram(directory / kShepherd))
            return (directory / kShepherd).string();
    return Error{ErrorCode::Internal, "there is no sge_shepherd beside sge_execd in '" + printable(beside.string(), 200) +
                                          "', and none in the " + "cell's binary_path '" + printable(configured.string(), 200) +
                                          "'"};
}

Result<JobOwner> findOwner(const std::string& name) {
    std::string buffer(kPasswdBuffer, '\0');
    passwd entry{};
    passwd* found = nullptr;
    const int error = ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (!found)
        return Error{ErrorCode::InvalidArgument, "there is no user '" + printable(name, 100) + "' on this node" +
                                                     (error != 0 ? std::string(": ") + std::strerror(error) : std::string())};
    return JobOwner{name, found->pw_uid, found->pw_gid};
}

CpuList cpusOf(const std::vector<GridEngineCore>& cores, const Topology& topology) {
    const auto sockets = coresBySocket(topology);
    std::set<unsigned> wanted;
    for (const auto& core : cores) {
        if (core.socket >= sockets.size() || core.core >= sockets[core.socket].size())
            return {};
        wanted.insert(sockets[core.socket][core.core]);
    }
    std::vector<unsigned> cpus;
    for (const auto& place : topology.cpus)
        if (wanted.contains(place.core))
            cpus.push_back(place.cpu);
    return CpuList::of(cpus);
}

} // namespace pinfold
