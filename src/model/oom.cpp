// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/oom.hpp"

#include "base/parse.hpp"

#include <array>
#include <utility>

namespace pinfold {
namespace {

constexpr std::array kNames{
    std::pair{OomCause::OwnLimit, std::string_view("own-limit")},
    std::pair{OomCause::Node, std::string_view("node")},
    std::pair{OomCause::Oomd, std::string_view("oomd")},
    std::pair{OomCause::Administrator, std::string_view("administrator")},
};

const char* beginning(OomCause cause) {
    switch (cause) {
    case OomCause::OwnLimit: // OpenPBS uses these words, and people search for them
        return "Cgroup memory limit exceeded: ";
    case OomCause::Node:
        return "Node out of memory, the job was within its own limit: ";
    case OomCause::Oomd:
        return "systemd-oomd acted on memory pressure: ";
    case OomCause::Administrator:
        return "The administrator lowered the memory limit or triggered a kill: ";
    }
    return "";
}

} // namespace

std::string_view toString(OomCause cause) {
    for (const auto& [known, name] : kNames)
        if (known == cause)
            return name;
    return "?";
}

std::optional<OomCause> oomCauseFromString(std::string_view text) {
    for (const auto& [cause, name] : kNames)
        if (name == text)
            return cause;
    return std::nullopt;
}

std::string oomLine(const OomVerdict& verdict, std::optional<std::uint64_t> peak) {
    std::string line = beginning(verdict.cause);
    line += "Killed process ";
    line += verdict.victim ? std::to_string(*verdict.victim) : "(the kernel's log does not say which)";
    if (verdict.victimName)
        line += " (" + *verdict.victimName + ")";
    const auto add = [&line](const char* name, const std::optional<std::uint64_t>& bytes) {
        if (bytes)
            line += std::string(", ") + name + " " + formatSize(*bytes);
    };
    add("resident", verdict.victimRss);
    add("limit", verdict.limit);
    add("peak", peak);
    add("anonymous", verdict.anon);
    add("cached", verdict.file);
    return line;
}

} // namespace pinfold
