// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "doctor/checks.hpp"

#include <fmt/core.h>

namespace pinfold::doctor {
namespace {

constexpr const char* kPolicy = "org.pinfold1.conf";
constexpr const char* kVendor = "/usr/share/dbus-1";
constexpr const char* kAdmin = "/etc/dbus-1";

struct BusLimit {
    const char* name;
    std::uint64_t needed; ///< the lowest value that is enough for pinfold; the default of dbus-daemon is the same value
    const char* why;
};
constexpr BusLimit kLimits[] = {
    {"max_replies_per_connection", 128,
     "pinfoldd waits for up to 64 starts and stops of units at the same time, and for the replies to other calls"},
    {"max_match_rules_per_connection", 512, "systemd needs one match rule for each start and stop that a client waits for"},
};

/// Returns the files of the bus's configuration in the order in which dbus-daemon reads them. If several files have a setting,
/// the value in the last of these files applies.
std::vector<std::filesystem::path> busFiles(const Files& files) {
    std::vector<std::filesystem::path> found{std::filesystem::path(kVendor) / "system.conf",
                                             std::filesystem::path(kAdmin) / "system.conf"};
    for (const char* top : {kVendor, kAdmin})
        for (const auto& file : files.matching(std::filesystem::path(top) / "system.d/*.conf"))
            found.push_back(file);
    found.push_back(std::filesystem::path(kAdmin) / "system-local.conf");
    return found;
}

/// Returns the NUMBER of <limit name="NAME">NUMBER</limit> in the text. Comments in the text are ignored.
std::optional<std::uint64_t> limitIn(std::string text, const std::string& name) {
    for (auto begin = text.find("<!--"); begin != std::string::npos; begin = text.find("<!--")) {
        const auto end = text.find("-->", begin);
        text.erase(begin, end == std::string::npos ? end : end + 3 - begin);
    }
    std::optional<std::uint64_t> value;
    for (auto at = text.find("<limit"); at != std::string::npos; at = text.find("<limit", at + 1)) {
        const auto close = text.find('>', at);
        const auto end = text.find('<', close == std::string::npos ? at + 1 : close);
        if (close == std::string::npos || end == std::string::npos)
            break;
        const auto tag = text.substr(at, close - at);
        const auto number = words(text.substr(close + 1, end - close - 1));
        if (tag.find('"' + name + '"') == std::string::npos && tag.find('\'' + name + '\'') == std::string::npos)
            continue;
        if (const auto parsed = parseUnsigned(number.empty() ? "" : number.front()))
            value = *parsed;
    }
    return value;
}

void checkLimits(const Files& files, Findings& findings) {
    bool good = true;
    for (const auto& limit : kLimits) {
        std::optional<std::uint64_t> value;
        std::filesystem::path where;
        for (const auto& file : busFiles(files))
            if (const auto set = limitIn(files.text(file), limit.name)) {
                value = set;
                where = file;
            }
        if (!value || *value >= limit.needed)
            continue;
        good = false;
        findings.fail("bus.limits", fmt::format("{} is {}: {}", limit.name, *value, limit.why),
                      fmt::format("write <limit name=\"{}\">{}</limit> or more in this file, or remove the line; then reboot",
                                  limit.name, limit.needed),
                      where);
    }
    if (good)
        findings.ok("bus.limits", "the bus allows as many calls and match rules as pinfoldd and systemd need");
}

void checkKind(const Host& host, const Files& files, Findings& findings) {
    const auto id = property(host.unit("dbus.service"), "Id");
    const bool broker = id == "dbus-broker.service";
    findings.ok("bus.kind", broker ? "dbus-broker" : "dbus-daemon");
    if (!broker)
        checkLimits(files, findings);
}

void checkPolicy(const Files& files, Findings& findings) {
    const auto policy = files.first(
        {std::filesystem::path(kAdmin) / "system.d" / kPolicy, std::filesystem::path(kVendor) / "system.d" / kPolicy});
    if (policy)
        findings.ok("bus.policy", "pinfoldd may own its bus name, and every user may call it", *policy);
    else
        findings.fail("bus.policy", "the bus does not know org.pinfold1: pinfoldd cannot start",
                      fmt::format("install {} in {}/system.d, then `systemctl reload dbus`", kPolicy, kVendor), kVendor);
}

} // namespace

void checkBus(const Host& host, const Files& files, Findings& findings) {
    if (host.busError)
        findings.fail(
            "bus.answers", "the system bus does not answer: " + *host.busError,
            "look at `journalctl -b -u dbus -u dbus-broker -n 50`, then run `systemctl restart dbus`; jobs survive the restart",
            "dbus.service");
    else {
        findings.ok("bus.answers", "the system bus answers in time");
        checkKind(host, files, findings);
        findings.ok("bus.polkit", host.polkit ? "polkit is installed; pinfoldd does not use it"
                                              : "polkit is not installed; pinfoldd does not need it");
    }
    checkPolicy(files, findings);
}

} // namespace pinfold::doctor
