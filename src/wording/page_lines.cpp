// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/page_lines.hpp"

#include "base/parse.hpp"
#include "base/word_list.hpp"
#include "wording/name_list.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace pinfold::page {
namespace {

/// Returns texts such as "2" and "1.5".
std::string count(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", number);
    std::string digits(text.data());
    while (digits.ends_with('0'))
        digits.pop_back();
    if (digits.ends_with('.'))
        digits.pop_back();
    return digits;
}

std::string cpus(double number) { return count(number) + (number == 1.0 ? " CPU" : " CPUs"); }

std::string submitLine(const JobIdentity& identity) {
    if (!identity.submitHost && !identity.submitDirectory)
        return "";
    if (!identity.submitHost)
        return line("submitted", "in " + *identity.submitDirectory);
    return line("submitted", "on " + *identity.submitHost + (identity.submitDirectory ? " in " + *identity.submitDirectory : ""));
}

std::string labelsLine(const Labels& labels) { return labels.empty() ? "" : line("labels", joined(labelPairs(labels), ", ")); }

} // namespace

std::string line(const std::string& name, const std::string& value) {
    return "  " + name + std::string(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' ') + value + "\n";
}

std::string further(const std::string& value) { return line("", value); }

std::string exactPercent(double share) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f%%", share * 100);
    return text.data();
}

std::string cpuEfficiencyLine(double efficiency, Microseconds coreWalltime, double cpusHeld, const Amounts& amounts) {
    return further("CPU efficiency: " + exactPercent(efficiency) + " of " + amounts.runTime(coreWalltime) + " core-walltime (" +
                   cpus(cpusHeld) + ")");
}

std::string nodesLine(const JobIdentity& identity) {
    const auto count = identity.nodeCount.value_or(identity.nodes.size());
    if (count < 2)
        return "";
    return line("nodes", std::to_string(count) + (identity.nodes.empty() ? "" : ": " + nameList(identity.nodes, count)));
}

std::string identityLines(const JobIdentity& identity, const std::string& hosts) {
    std::string text;
    for (const auto& [name, member] : {std::pair{"name", &identity.jobName},
                                       {"account", &identity.account},
                                       {"project", &identity.project},
                                       {"queue", &identity.queue},
                                       {"group", &identity.group}})
        if (*member)
            text += line(name, **member);
    if (identity.arrayTask)
        text += line("array task", std::to_string(*identity.arrayTask) +
                                       (identity.arrayJob ? " of array " + std::to_string(*identity.arrayJob) : ""));
    if (identity.run.value_or(0) > 0)
        text += line("requeued", counted(*identity.run, "time", "times") + " before");
    return text + submitLine(identity) + hosts + labelsLine(identity.labels);
}

} // namespace pinfold::page
