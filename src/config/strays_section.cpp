// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/strays_section.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "base/word_list.hpp"

#include <filesystem>

namespace pinfold {
namespace {

using Strays = StraysConfig;

constexpr Microseconds kLongest = kForever - 1us; // the longest valid duration; "infinity" is not valid in [strays]

bool isText(const std::string& text) { return !text.empty() && text == printable(text); }

/// The cgroup of a process shows only the name of the unit, so a pattern with a slash would match nothing.
bool isUnitGlob(const std::string& text) { return isText(text) && text.find('/') == std::string::npos; }

/// The path must have the form that the kernel uses, for example without a slash at the end. pinfold does not recognize the
/// path /dev/shm in a different spelling, for example as /dev/shm/.
bool isPlainDirectory(const std::string& path) {
    return path.starts_with('/') && path.size() > 1 && isText(path) && !path.ends_with('/') &&
           path == std::filesystem::path(path).lexically_normal().native();
}

Result<void> kinds(const toml::node& node, Config& config) {
    StrayKinds read;
    const auto* list = node.as_array();
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        const auto kind = actionableStrayKind((*list)[i].value<std::string>().value_or(""));
        if (!kind) {
            list = nullptr;
            break;
        }
        read.insert(*kind);
    }
    if (!list)
        return wrong(show(node) + " is not a list of kinds of strays: use a list with some of " +
                     enumerated(quoted(actionableStrayKindNames()), "and"));
    config.strays.kinds = std::move(read);
    return {};
}

} // namespace

Section straysSection() {
    return {
        {"mode", word<StraysMode>([](Config& c) -> StraysMode& { return c.strays.mode; },
                                  {{"report", StraysMode::Report},
                                   {"warn", StraysMode::Warn},
                                   {"stop", StraysMode::Stop},
                                   {"kill", StraysMode::Kill}})},
        // The lowest valid value of min_uid is 1. With min_uid = 0, root's processes, such as the system's daemons, would count
        // as strays.
        {"min_uid", count<uid_t>([](Config& c) -> uid_t& { return c.strays.minUid; }, 1, Strays::kMostUid)},
        {"max_uid", count<uid_t>([](Config& c) -> uid_t& { return c.strays.maxUid; }, 1, Strays::kMostUid)},
        {"users", words([](Config& c) -> std::vector<std::string>& { return c.strays.users; }, isText, "users")},
        {"exempt_users", words([](Config& c) -> std::vector<std::string>& { return c.strays.exemptUsers; }, isText, "users")},
        {"exempt_groups", words([](Config& c) -> std::vector<std::string>& { return c.strays.exemptGroups; }, isText, "groups")},
        {"exempt_units", words([](Config& c) -> std::vector<std::string>& { return c.strays.exemptUnits; }, isUnitGlob,
                               "unit names such as \"site-*.service\" or \"site.slice\"")},
        {"commands", words([](Config& c) -> std::vector<std::string>& { return c.strays.commands; }, isText,
                           "command lines such as \"*matlab*\"")},
        {"kinds", kinds},
        {"without_job", flag([](Config& c) -> bool& { return c.strays.withoutJob; })},
        {"min_age", duration([](Config& c) -> Microseconds& { return c.strays.minAge; }, 0s, kLongest, "a duration")},
        {"min_cpu", duration([](Config& c) -> Microseconds& { return c.strays.minCpu; }, 0s, kLongest, "a duration")},
        {"grace", duration([](Config& c) -> Microseconds& { return c.strays.grace; }, 0s, Strays::kMostGrace, "0 to 1 h")},
        {"files", word<LeftoverFilesPolicy>([](Config& c) -> LeftoverFilesPolicy& { return c.strays.files.policy; },
                                            {{"report", LeftoverFilesPolicy::Report}, {"remove", LeftoverFilesPolicy::Remove}})},
        {"file_directories", words([](Config& c) -> std::vector<std::string>& { return c.strays.files.directories; },
                                   isPlainDirectory, "absolute paths such as \"/tmp\"")},
        {"file_min_age", duration([](Config& c) -> Microseconds& { return c.strays.files.minAge; }, 0s, kLongest, "a duration")},
        {"max_kills", count<std::uint32_t>([](Config& c) -> std::uint32_t& { return c.strays.maxKills; }, 1, Strays::kMostKills)},
    };
}

} // namespace pinfold
