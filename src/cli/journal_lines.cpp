// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/journal_lines.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "model/json.hpp"
#include "model/metrics.hpp"

#include <fmt/core.h>

#include <array>
#include <ctime>
#include <map>

namespace pinfold {
namespace {

constexpr std::uint64_t kLastEntries = 10;
constexpr std::uint64_t kLastErrors = 5;
// printable() escapes backslashes and tabs, although backslashes and tabs are harmless.
constexpr std::string_view kHarmless = "\\\t";

/// Escapes a journal message as printable() does, but does not escape backslashes. The writers of journal messages have already
/// escaped all quoted texts.
std::string harmless(std::string_view text) {
    std::string out;
    while (true) {
        const auto end = text.find_first_of(kHarmless);
        out += printable(text.substr(0, end), std::string::npos);
        if (end == std::string_view::npos)
            return out;
        out += text[end];
        text.remove_prefix(end + 1);
    }
}

std::string withoutTabs(const std::string& text) {
    std::string out;
    for (const char c : text)
        out.append(c == '\t' ? 8 : 1, c == '\t' ? ' ' : c);
    return out;
}

std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    while (true) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos || end + 1 == text.size())
            return lines;
        text.remove_prefix(end + 1);
    }
}

bool isText(std::string_view value) {
    for (const auto line : linesOf(value))
        if (harmless(line) != line)
            return false;
    return true;
}

std::string localTime(RealTime time) {
    const auto seconds = static_cast<std::time_t>(time.time_since_epoch() / 1s);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S%z", &parts)};
}

/// Returns the time at which journald got the entry from its writer. journalctl prints the same time. The entry's own time is the
/// time at which journald has stored the entry. On a busy node, journald can store an entry seconds after it got the entry.
RealTime timeOf(const JournalEntry& entry) {
    constexpr auto kLatest = std::uint64_t{1} << 55; // journalctl has the same limit: VALID_REALTIME() in systemd's sources
    const auto got = parseUnsigned(entry.field("_SOURCE_REALTIME_TIMESTAMP"));
    return got && *got > 0 && *got < kLatest ? fromUsec<RealTime>(*got) : entry.realTime;
}

std::string_view firstOf(const JournalEntry& entry, std::initializer_list<const char*> names) {
    for (const auto* name : names)
        if (const auto value = entry.field(name); !value.empty())
            return value;
    return {};
}

std::string writerOf(const JournalEntry& entry) {
    const auto name = firstOf(entry, {"SYSLOG_IDENTIFIER", "_COMM"});
    const auto pid = firstOf(entry, {"_PID", "SYSLOG_PID"});
    return harmless(name.empty() ? "unknown" : name) + (pid.empty() ? "" : fmt::format("[{}]", harmless(pid)));
}

/// The field PRIORITY contains the numbers of syslog(3): the lower the number, the more severe the message.
Tone toneOf(std::string_view priority) {
    if (priority.size() != 1 || priority > "4")
        return Tone::Plain;
    return priority < "4" ? Tone::Bad : Tone::Warning;
}

Json jsonValue(const std::string& value) {
    if (isText(value))
        return value;
    auto bytes = Json::array();
    for (const char byte : value)
        bytes.push_back(static_cast<unsigned char>(byte));
    return bytes;
}

JournalMatches matchesOfTroubles() {
    const std::string unit = "pinfoldd.service";
    std::vector<std::string> counted{"_SYSTEMD_UNIT=" + unit};
    for (const auto& kind : troubleNames())
        counted.push_back("PINFOLD_TROUBLE=" + kind);
    std::vector<std::string> printed{"_SYSTEMD_UNIT=" + unit, "_TRANSPORT=stdout"};
    for (const auto* severe : {"PRIORITY=0", "PRIORITY=1", "PRIORITY=2", "PRIORITY=3", "PRIORITY=4"})
        printed.emplace_back(severe);
    return {std::move(counted), std::move(printed)};
}

} // namespace

const char* const kOnlyOwnEntries =
    "only entries of your own processes are shown: root and the members of the groups systemd-journal and adm may read all "
    "entries";

std::string journalLine(const JournalEntry& entry, const Terminal& terminal) {
    const auto tone = toneOf(entry.field("PRIORITY"));
    const auto head = fmt::format("{} {} {}: ", localTime(timeOf(entry)), harmless(entry.field("_HOSTNAME")), writerOf(entry));
    std::string text;
    for (const auto line : linesOf(entry.field("MESSAGE")))
        text +=
            (text.empty() ? head : std::string(head.size(), ' ')) + terminal.colored(tone, withoutTabs(harmless(line))) + "\n";
    return text;
}

std::string jsonJournalEntry(const JournalEntry& entry) {
    Json json{{"__CURSOR", entry.cursor},
              {"__REALTIME_TIMESTAMP", std::to_string(toUsec(entry.realTime))},
              {"__MONOTONIC_TIMESTAMP", std::to_string(toUsec(entry.monotonic))}};
    std::map<std::string_view, Json> values;
    for (const auto& [name, value] : entry.fields)
        values[name].push_back(jsonValue(value));
    for (auto& [name, all] : values)
        json[std::string(name)] = all.size() == 1 ? std::move(all[0]) : std::move(all);
    return dump(json) + "\n";
}

std::optional<std::vector<DaemonMessage>> lastErrorsOfDaemon() {
    if (!mayReadWholeJournal())
        return std::nullopt;
    auto reader = JournalReader::open(matchesOfTroubles());
    if (!reader || !reader->goToNewest(kLastErrors))
        return std::nullopt;
    std::vector<DaemonMessage> messages;
    while (const auto entry = reader->next()) {
        if (!*entry)
            return messages;
        messages.push_back({.time = timeOf(**entry),
                            .isError = toneOf((*entry)->field("PRIORITY")) == Tone::Bad,
                            .message = harmless((*entry)->field("MESSAGE"))});
    }
    return std::nullopt;
}

std::string lastJournalLines(const std::string& unit, const Terminal& terminal) {
    auto reader = JournalReader::open(matchesOfUnit(unit));
    if (!reader || !reader->goToNewest(kLastEntries))
        return {};
    std::string text;
    while (const auto entry = reader->next()) {
        if (!*entry)
            break;
        text += journalLine(**entry, terminal);
    }
    return text;
}

} // namespace pinfold
