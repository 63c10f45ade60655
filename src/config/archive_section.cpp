// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/archive_section.hpp"

#include "base/escape.hpp"

namespace pinfold {
namespace {

constexpr std::size_t kMostHostName = 253; // RFC 1035
// The path of a socket can have at most 107 bytes, and libpq appends up to 15 bytes ("/.s.PGSQL.65535") to the directory.
constexpr std::size_t kMostSocketDirectory = 90;
constexpr std::size_t kMostDatabaseName = 63; // PostgreSQL cuts longer names

/// For libpq, a comma separates hosts, and '@' begins the name of an abstract socket. isHost() refuses names with a comma or an
/// '@', because the configuration must name exactly one host.
bool isHost(const std::string& text) {
    constexpr auto kCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-:_";
    return text.size() <= kMostHostName && text.find_first_not_of(kCharacters) == std::string::npos && !text.starts_with('-');
}

bool isSocketDirectory(const std::string& text) {
    return text.starts_with('/') && text.size() <= kMostSocketDirectory && text.find(',') == std::string::npos &&
           text == printable(text);
}

Result<void> server(const toml::node& node, Config& config) {
    const auto* text = node.as_string();
    if (!text || !(text->get().empty() || isHost(text->get()) || isSocketDirectory(text->get())))
        return wrong(show(node) + " is not a server: use one host name such as \"archive.example.org\", or the absolute path of "
                                  "the directory of the server's socket, such as \"/run/postgresql\"");
    config.archive.server = text->get();
    return {};
}

Result<void> database(const toml::node& node, Config& config) {
    const auto name = node.value<std::string>().value_or("");
    if (name.empty() || name.size() > kMostDatabaseName || name != printable(name))
        return wrong(show(node) + " is not a name of a database: use 1 to " + std::to_string(kMostDatabaseName) + " characters");
    config.archive.database = name;
    return {};
}

} // namespace

Section archiveSection() {
    return {
        {"server", server},
        {"port", count<std::uint16_t>([](Config& c) -> std::uint16_t& { return c.archive.port; }, 1, UINT16_MAX)},
        {"database", database},
        {"certificate", absolutePath([](Config& c) -> std::string& { return c.archive.certificate; })},
        {"key", absolutePath([](Config& c) -> std::string& { return c.archive.key; })},
        {"ca", absolutePath([](Config& c) -> std::string& { return c.archive.ca; })},
        {"max_unsent",
         size([](Config& c) -> std::uint64_t& { return c.archive.maxUnsent; }, 1 << 20, "1M or more, or \"infinity\"")},
        {"ask", flag([](Config& c) -> bool& { return c.archive.ask; })},
    };
}

} // namespace pinfold
