// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "wording/efficiency.hpp"
#include "wording/hosts_lines.hpp"
#include "wording/hosts_text.hpp"
#include "wording/name_list.hpp"
#include "wording/page_lines.hpp"
#include "wording/wrap.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace pinfold {
namespace {

// A host is idle if it used less than 1/100 of the average CPU time of the job's hosts.
constexpr std::uint64_t kIdleShare = 100;
// If the hosts used less CPU time than kLeastMeanForAdvice on average, the job's work has perhaps not begun.
constexpr Microseconds kLeastMeanForAdvice = 60s;

/// Returns a line like page::line(), but breaks a long value into several lines.
std::string line(const std::string& name, const std::string& value) {
    return page::line(name, wrapped(value, page::kWidth, page::kNameWidth + 2));
}

std::string further(const std::string& value) { return line("", value); }

std::string shortName(const HostOfJob& host) { return host.name.empty() ? "(not known)" : legible(host.name, kMostHostBytes); }

/// Returns a text such as "node1 (7), node2 (3) and 2 more": the hosts, each with its value of `number`. The host with the
/// highest value comes first.
std::string listedByNumber(const HostsOfJob& job, std::uint64_t HostOfJob::*number) {
    std::vector<const HostOfJob*> hosts;
    for (const auto& host : job.hosts)
        if (host.*number > 0)
            hosts.push_back(&host);
    std::ranges::stable_sort(hosts, [number](const auto* a, const auto* b) { return a->*number > b->*number; });
    std::vector<std::string> names;
    for (const auto* host : hosts)
        names.push_back(shortName(*host) + " (" + std::to_string(host->*number) + ")");
    return nameList(names, names.size());
}

template <class Predicate> std::vector<std::string> namesOf(const HostsOfJob& job, Predicate wanted) {
    std::vector<std::string> names;
    for (const auto& host : job.hosts)
        if (wanted(host))
            names.push_back(shortName(host));
    return names;
}

/// Returns the JobIdentity that contains the most facts about the job. Slurm reports all facts about a job on the host of the
/// batch script, and only some of these facts on the other hosts.
const JobIdentity& fullestIdentity(const HostsOfJob& job) {
    const auto members = [](const JobIdentity& identity) {
        std::size_t count = 0;
        forEachIdentityField(identity, [&count](const char*, const auto& member) { count += isSet(member) ? 1 : 0; });
        return count;
    };
    const JobIdentity* fullest = &job.hosts.front().receipts.front().identity;
    for (const auto& host : job.hosts)
        for (const auto& receipt : host.receipts)
            if (members(receipt.identity) > members(*fullest))
                fullest = &receipt.identity;
    return *fullest;
}

std::string hostsLines(const HostsOfJob& job) {
    const auto missing = job.missing.size() + job.missingUnnamed;
    const auto& cluster = job.hosts.front().receipts.front().origin.cluster;
    auto text = line("hosts", std::to_string(job.hosts.size() + missing) + (cluster ? " of the cluster " + *cluster : ""));
    if (missing == 0)
        return text;
    std::vector<std::string> names;
    for (const auto& name : job.missing)
        names.push_back(legible(name, kMostHostBytes));
    return text +
           line("missing", "there is no receipt of " + counted(missing, "host", "hosts") +
                               (names.empty() ? "" : ": " + nameList(names, missing))) +
           further("the job may still run there, or the host could not send its receipt yet");
}

std::string timeLines(const HostsOfJob& job, const Amounts& amounts) {
    return line("started", amounts.time(job.started)) +
           line("ended", amounts.time(job.ended) + ", after " + amounts.runTime(timeBetween(job.started, job.ended)));
}

/// Names the host on which the job ended earlier than on all other hosts. If the clocks of the hosts are not exact enough,
/// firstLines() names all hosts that are possibly the first.
std::string firstLines(const HostsOfJob& job, const Amounts& amounts) {
    const auto& event = job.first.event;
    if (!event)
        return "";
    const auto& host = job.hosts[event->host];
    const bool lost = event->kind == EndKind::NodeLost;
    auto text = line("first end", shortName(host) + (lost ? ", some time after " : ", ") + amounts.time(event->at));
    std::vector<std::string> alike;
    for (const auto index : job.first.alike)
        alike.push_back(shortName(job.hosts[index]));
    if (!alike.empty())
        text += further("or " + nameList(alike, alike.size()) + ": the clocks do not tell which was first");
    return text;
}

std::string afterLines(const HostsOfJob& job) {
    if (!job.first.event || job.after.hosts == 0)
        return "";
    const auto last = std::ranges::max_element(
        job.hosts, {}, [](const HostOfJob& host) { return std::pair(host.role == HostRole::After, host.ended); });
    const bool lost = job.first.event->kind == EndKind::NodeLost;
    return line("then", counted(job.after.hosts, "host", "hosts") +
                            (lost ? "" : ", " + delaysInWords(job.after) + " after the first end") + ", last " +
                            shortName(*last));
}

std::string furtherEnds(const HostsOfJob& job) {
    std::string text;
    const auto own = namesOf(job, [](const HostOfJob& host) { return host.role == HostRole::OfItself; });
    const auto before = namesOf(job, [](const HostOfJob& host) { return host.role == HostRole::Before; });
    if (!own.empty())
        text += line("also",
                     counted(own.size(), "host", "hosts") + " would have ended the job as well: " + nameList(own, own.size()));
    if (!before.empty())
        text += line("before", "the job had no process left on " + counted(before.size(), "host", "hosts") + ": " +
                                   nameList(before, before.size()));
    return text;
}

std::string survivedLines(const HostsOfJob& job, NameOfUser nameOf, const Amounts& amounts) {
    const auto& last = job.first.survivor;
    if (!last)
        return "";
    const bool several = job.first.survived > 1;
    return line("earlier", counted(job.first.survived, "failure", "failures") + " did not end the job" +
                               (several ? ", the last one at " : ", at ") + amounts.time(last->at) + ":") +
           further(endInWords(job, *last, nameOf));
}

using Shown = std::function<std::string(std::uint64_t)>;

/// Returns a text such as "2h on average, at most 4h (node1), at least 0 (node2)".
std::string spreadInWords(const HostsOfJob& job, const Spread& spread, const Shown& shown) {
    const auto at = [&](std::uint64_t value, std::size_t host) { return shown(value) + " (" + shortName(job.hosts[host]) + ")"; };
    auto text = shown(spread.mean()) + " on average";
    if (spread.most > spread.least)
        text += ", at most " + at(spread.most, spread.mostHost) + ", at least " + at(spread.least, spread.leastHost);
    if (spread.hosts < job.hosts.size())
        text += "; not known for " + counted(job.hosts.size() - spread.hosts, "host", "hosts");
    return text;
}

/// Returns the line with the CPU efficiency of the whole job. The line is empty if a receipt does not contain all figures that
/// the calculation of the CPU efficiency needs.
std::string efficiencyLine(const HostsOfJob& job, const Amounts& amounts) {
    Microseconds whole{};
    double cpus = 0;
    for (const auto& host : job.hosts) {
        for (const auto& receipt : host.receipts) {
            const auto part = coreWalltime(receipt);
            if (!part)
                return "";
            whole += *part;
        }
        cpus += *cpusOf(host.receipts.back());
    }
    if (whole == 0s || job.cpu->hosts < job.hosts.size())
        return "";
    return page::cpuEfficiencyLine(static_cast<double>(job.cpu->total) / static_cast<double>(whole.count()), whole, cpus,
                                   amounts);
}

std::string cpuLines(const HostsOfJob& job, const Amounts& amounts) {
    if (!job.cpu)
        return line("CPU", "not known");
    const auto shown = [&amounts](std::uint64_t usec) { return amounts.duration(fromUsec<Microseconds>(usec)); };
    return line("CPU", shown(job.cpu->total) + " on all hosts") + further("per host: " + spreadInWords(job, *job.cpu, shown)) +
           efficiencyLine(job, amounts);
}

std::string memoryLines(const HostsOfJob& job, const Amounts& amounts) {
    const auto shown = [&amounts](std::uint64_t bytes) { return amounts.size(bytes); };
    std::string text;
    if (job.memoryNeed)
        text += line("memory", "needed per host: " + spreadInWords(job, *job.memoryNeed, shown));
    else
        text += line("memory", "pinfold does not know how much the job needed");
    if (job.memoryPeak)
        text += further("at the peak with page cache: " + spreadInWords(job, *job.memoryPeak, shown));
    return text;
}

std::string killedLine(const HostsOfJob& job) {
    if (job.oomKills == 0)
        return "";
    return line("killed", counted(job.oomKills, "process", "processes") +
                              " because memory ran out: " + listedByNumber(job, &HostOfJob::oomKills));
}

std::string leftoverLine(const HostsOfJob& job, const Amounts& amounts) {
    if (job.leftovers == 0)
        return line("left behind", "nothing");
    return line("left behind", counted(job.leftovers, "process", "processes") + ", CPU " + amounts.duration(job.leftoverCpu) +
                                   ", stopped by pinfold:") +
           further(listedByNumber(job, &HostOfJob::leftovers));
}

std::string adviceLines(const HostsOfJob& job, std::size_t width) {
    if (!job.cpu || job.cpu->mean() < toUsec(kLeastMeanForAdvice))
        return "";
    const auto idle = std::ranges::count_if(
        job.hosts, [&job](const HostOfJob& host) { return host.cpu && toUsec(*host.cpu) < job.cpu->mean() / kIdleShare; });
    if (idle == 0)
        return "";
    return "\n" +
           wrapped("The job hardly used the CPUs of " + counted(static_cast<std::uint64_t>(idle), "host", "hosts") +
                       ": ask for fewer hosts, or let the job use all of them.",
                   width > 0 ? width : page::kWidth) +
           "\n";
}

} // namespace

std::string hostsPage(const HostsOfJob& job, NameOfUser nameOf, const Amounts& amounts, std::size_t width) {
    const auto& any = job.hosts.front().receipts.front();
    const auto cause = "Job " + any.key + " of user " + nameIn(any, any.uid, nameOf) + " is over. " + causeInWords(job, nameOf);
    return wrapped(cause, width) + "\n\n" + page::identityLines(fullestIdentity(job), hostsLines(job)) + timeLines(job, amounts) +
           firstLines(job, amounts) + afterLines(job) + furtherEnds(job) + survivedLines(job, nameOf, amounts) +
           cpuLines(job, amounts) + memoryLines(job, amounts) + line("tasks", std::to_string(job.tasks)) + killedLine(job) +
           leftoverLine(job, amounts) + adviceLines(job, width);
}

} // namespace pinfold
