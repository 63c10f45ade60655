// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/oom.hpp"

#include "base/enum_names.hpp"
#include "base/parse.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr auto kOomCauseNames = enumNames<OomCause>({
    {OomCause::OwnLimit, "own-limit"},
    {OomCause::Node, "node"},
    {OomCause::Oomd, "oomd"},
    {OomCause::Administrator, "administrator"},
});

const char* beginning(OomCause cause) {
    switch (cause) {
    case OomCause::OwnLimit: // OpenPBS begins its own message with the same words, and people search for OpenPBS's message
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

std::string_view toString(OomCause cause) { return kOomCauseNames[cause]; }

std::optional<OomCause> oomCauseFromString(std::string_view text) { return kOomCauseNames.find(text); }

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
    add("shared", verdict.shmem);
    // An earlier pinfoldd did not know how much of `file` was shared memory.
    if (verdict.file && verdict.shmem)
        add("page cache", *verdict.file - std::min(*verdict.file, *verdict.shmem));
    else
        add("shared and page cache", verdict.file);
    return line;
}

std::string oomNotice(const OomVerdict& verdict, std::optional<std::uint64_t> peak, const std::string& key,
                      const std::string& host) {
    return oomLine(verdict, peak) + ", job " + key + " on " + host + ", " + formatUtc(verdict.at);
}

} // namespace pinfold
