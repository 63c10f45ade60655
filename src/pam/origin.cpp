// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pam/origin.hpp"

#include "os/cgroup.hpp"
#include "os/read_file.hpp"

#include <arpa/inet.h>
#include <fcntl.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <system_error>
#include <vector>

namespace pinfold::pam {
namespace {

namespace fs = std::filesystem;

// On a busy node, the table /proc/net/tcp has tens of thousands of connections. In the table /proc/net/tcp, each connection takes
// 150 bytes.
constexpr std::size_t kMostOfTable = 16 << 20;
// Each line of /proc/net/tcp has fields at fixed positions (see Documentation/networking/proc_net_tcp.rst).
constexpr std::size_t kLocal = 1, kRemote = 2, kState = 3, kInode = 9;
constexpr const char* kEstablished = "01";
constexpr std::size_t kDigitsOfWord = 8; ///< the number of hexadecimal digits for 32 bits
// For an IPv6 socket, the kernel shows an IPv4 address with the prefix kMapped.
constexpr const char* kMapped = "0000000000000000FFFF0000";

std::vector<std::string> words(std::string_view line) {
    std::istringstream in{std::string(line)};
    std::vector<std::string> found;
    for (std::string word; in >> word;)
        found.push_back(word);
    return found;
}

/// Returns the address in the kernel's form: units of 32 bits in hexadecimal, each in this machine's byte order. Returns an empty
/// text if `address` is neither an IPv4 address nor an IPv6 address.
std::string hexAddress(std::string address) {
    // A link-local address can end with '%' and the name of a network interface.
    address.resize(std::min(address.find('%'), address.size()));
    std::array<std::uint32_t, 4> parts{};
    const bool v6 = address.find(':') != std::string::npos;
    if (::inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(), parts.data()) != 1)
        return {};
    std::string text;
    for (std::size_t i = 0; i < (v6 ? parts.size() : 1); ++i) {
        std::array<char, kDigitsOfWord + 1> word{};
        std::snprintf(word.data(), word.size(), "%08X", parts[i]);
        text += word.data();
    }
    return text;
}

std::string hexEnd(const std::string& address, const std::string& port) {
    unsigned number = 0;
    const auto* end = port.data() + port.size();
    const auto parsed = std::from_chars(port.data(), end, number);
    const auto hex = hexAddress(address);
    if (hex.empty() || parsed.ec != std::errc() || parsed.ptr != end || number > UINT16_MAX)
        return {};
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), ":%04X", number);
    return hex + text.data();
}

bool isEnd(std::string_view field, const std::string& end) {
    return field == end || (field.starts_with(kMapped) && field.substr(std::strlen(kMapped)) == end);
}

/// Returns true if the process has the socket `link` open. A search through very many open files can take long, so the search
/// stops at the deadline.
bool hasOpen(const fs::path& process, const std::string& link, const Deadline& deadline) {
    std::error_code error;
    for (fs::directory_iterator entry(process / "fd", error), end; !error && entry != end && !deadline.passed();
         entry.increment(error)) {
        std::error_code gone;
        if (fs::read_symlink(entry->path(), gone) == link)
            return true;
    }
    return false;
}

} // namespace

std::optional<std::uint64_t> clientSocket(std::string_view connection, std::string_view tcp) {
    const auto ends = words(connection);
    if (ends.size() != 4)
        return std::nullopt;
    const auto client = hexEnd(ends[0], ends[1]);
    const auto server = hexEnd(ends[2], ends[3]);
    if (client.empty() || server.empty())
        return std::nullopt;
    for (std::size_t start = 0; start < tcp.size();) {
        const auto end = std::min(tcp.find('\n', start), tcp.size());
        const auto line = tcp.substr(start, end - start);
        start = end + 1;
        if (line.find(client) == std::string_view::npos)
            continue;
        const auto fields = words(line);
        if (fields.size() <= kInode || !isEnd(fields[kLocal], client) || !isEnd(fields[kRemote], server) ||
            fields[kState] != kEstablished)
            continue;
        std::uint64_t inode = 0;
        std::from_chars(fields[kInode].data(), fields[kInode].data() + fields[kInode].size(), inode);
        if (inode != 0)
            return inode;
    }
    return std::nullopt;
}

std::optional<std::string> originOf(const std::string& connection, const Jobs& jobs, const Deadline& deadline,
                                    const fs::path& root) {
    std::optional<std::uint64_t> inode;
    for (const char* table : {"proc/net/tcp", "proc/net/tcp6"})
        if (const auto text = readFile(AT_FDCWD, (root / table).c_str(), kMostOfTable); text && !inode)
            inode = clientSocket(connection, *text);
    if (!inode)
        return std::nullopt;
    const auto link = "socket:[" + std::to_string(*inode) + "]";
    const CgroupTree tree(root);
    for (const auto& job : jobs) {
        const auto cgroup = tree.open(cgroupsOf(job.key));
        const auto processes = cgroup ? cgroup->processes() : Result<std::vector<pid_t>>(std::vector<pid_t>());
        if (!processes)
            continue;
        for (const auto pid : *processes) {
            if (deadline.passed())
                return std::nullopt;
            if (hasOpen(root / "proc" / std::to_string(pid), link, deadline))
                return job.key;
        }
    }
    return std::nullopt;
}

} // namespace pinfold::pam
