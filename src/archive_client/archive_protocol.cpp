// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_client/archive_protocol.hpp"

#include "base/word_list.hpp"
#include "model/job_key.hpp"
#include "model/json.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace pinfold {
namespace {

// PostgreSQL sorts the members of a jsonb value by the length of their names, and writes the shortest name first. Every receipt
// has the member `id`, whose name is shorter than `end` and `error`. Therefore the line of a receipt never begins with the member
// `end` or `error`.
constexpr std::string_view kEnd = "{\"end\"";
constexpr std::string_view kError = "{\"error\"";

/// Throws an exception with the text `what`. decode() catches the exception.
[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

/// Refuses a text with a NUL byte, because the server would get only the part before the NUL byte. This shortened text could
/// match receipts that the user does not want.
void read(const std::string& name, const Json& value, std::optional<std::string>& text) {
    if (!value.is_string())
        refuse("entry '" + name + "' must be a string");
    text = value.get<std::string>();
    if (text->find('\0') != std::string::npos)
        refuse("entry '" + name + "' has a NUL character: leave it out");
}

std::uint64_t number(const std::string& name, const Json& value, std::uint64_t least, std::uint64_t most) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most)
        refuse("entry '" + name + "' must be a number from " + std::to_string(least) + " to " + std::to_string(most));
    return value.get<std::uint64_t>();
}

bool flag(const std::string& name, const Json& value) {
    if (!value.is_boolean())
        refuse("entry '" + name + "' must be true or false");
    return value.get<bool>();
}

void readResult(const std::string& name, const Json& value, std::optional<std::string>& result) {
    read(name, value, result);
    if (!jobResultFromString(*result))
        refuse("entry 'result' is not a result of a job: use " + enumerated(jobResultNames()));
}

void readScheduler(const std::string& name, const Json& value, std::optional<std::string>& scheduler) {
    read(name, value, scheduler);
    if (!isSchedulerName(*scheduler))
        refuse("entry 'scheduler' is not a scheduler name: use lower case letters and digits");
}

void readLabel(const std::string& name, const Json& value, std::optional<LabelFilter>& label) {
    std::optional<std::string> text;
    read(name, value, text);
    auto filter = labelFilter(*text);
    if (!filter)
        refuse("entry 'label': " + filter.error().message);
    label = *std::move(filter);
}

void readOutcome(const std::string& name, const Json& value, JobOutcome outcome, std::vector<JobOutcome>& outcomes) {
    if (flag(name, value))
        outcomes.push_back(outcome);
}

[[noreturn]] void refuseSequence(const std::string& name, const Json&) {
    refuse("entry '" + name +
           "' is about the history of one node, and the archive has receipts of many nodes: ask pinfoldd on the node itself");
}

using EntryReader = std::function<void(const std::string& name, const Json& value)>;

std::map<std::string, EntryReader> readersOf(ArchiveQuery& query) {
    using S = const std::string&;
    using J = const Json&;
    auto& f = query.filter;
    return {
        {"key", [&f](S n, J v) { read(n, v, f.key); }},
        {"uid", [&f](S n, J v) { f.uid = static_cast<uid_t>(number(n, v, 0, UINT32_MAX - 1)); }},
        {"since", [&f](S n, J v) { f.since = fromUsec<RealTime>(number(n, v, 0, INT64_MAX)); }},
        {"until", [&f](S n, J v) { f.until = fromUsec<RealTime>(number(n, v, 0, INT64_MAX)); }},
        {"limit", [&f](S n, J v) { f.limit = static_cast<std::uint32_t>(number(n, v, 1, kMostArchiveReceipts)); }},
        {"result", [&f](S n, J v) { readResult(n, v, f.result); }},
        {"scheduler", [&f](S n, J v) { readScheduler(n, v, f.scheduler); }},
        {"label", [&f](S n, J v) { readLabel(n, v, f.label); }},
        {"failed", [&f](S n, J v) { readOutcome(n, v, JobOutcome::Failed, f.outcomes); }},
        {"unknown", [&f](S n, J v) { readOutcome(n, v, JobOutcome::Unknown, f.outcomes); }},
        {"leftovers", [&f](S n, J v) { f.leftoversOnly = flag(n, v); }},
        {"profiles", [&f](S n, J v) { f.profiles = flag(n, v); }},
        {"all_hosts_of", [&query](S n, J v) { read(n, v, query.allHostsOf); }},
        {"before", refuseSequence},
        {"after", refuseSequence},
        {"epoch", refuseSequence},
    };
}

ReportPeriod periodFromJson(const Json& json) {
    if (json.size() != 2 || !json.contains("since") || !json.contains("until"))
        refuse("a report needs the entries `since` and `until`, and no other entry");
    return {.since = fromUsec<RealTime>(number("since", json["since"], 0, INT64_MAX)),
            .until = fromUsec<RealTime>(number("until", json["until"], 0, INT64_MAX))};
}

ArchiveQuery queryFromJson(const Json& document) {
    const bool isReport = document.is_object() && document.contains("report");
    const char* member = isReport ? "report" : "filter";
    if (!document.is_object() || document.size() != 1 || !document.contains(member) || !document[member].is_object())
        refuse("it must be an object whose only member is an object with the name `filter` or `report`");
    ArchiveQuery query;
    if (isReport) {
        query.report = periodFromJson(document["report"]);
        return query;
    }
    const auto readers = readersOf(query);
    for (const auto& [name, value] : document["filter"].items()) {
        const auto reader = readers.find(name);
        if (reader == readers.end())
            refuse("unknown entry '" + printable(name, 100) + "'");
        reader->second(name, value);
    }
    std::ranges::sort(query.filter.outcomes);
    if (query.allHostsOf && document["filter"].size() > (document["filter"].contains("profiles") ? 2U : 1U))
        refuse("a filter with all_hosts_of may have no further entry except profiles");
    return query;
}

Json filterToJson(const ReceiptFilter& filter) {
    auto json = Json::object();
    const auto add = [&json](const char* name, const auto& value) { put(json, name, optionalToJson(value), Unset::LeftOut); };
    add("key", filter.key);
    add("uid", filter.uid);
    add("since", filter.since);
    add("until", filter.until);
    put(json, "limit", filter.limit);
    add("result", filter.result);
    add("scheduler", filter.scheduler);
    if (filter.label)
        put(json, "label", filter.label->name + (filter.label->value ? "=" + *filter.label->value : ""));
    for (const auto& [outcome, name] : {std::pair{JobOutcome::Failed, "failed"}, {JobOutcome::Unknown, "unknown"}})
        if (std::ranges::find(filter.outcomes, outcome) != filter.outcomes.end())
            put(json, name, true);
    if (filter.leftoversOnly)
        put(json, "leftovers", true);
    if (filter.profiles)
        put(json, "profiles", true);
    add("before", filter.before);
    add("after", filter.after);
    add("epoch", filter.epoch);
    return json;
}

ErrorCode codeFromName(const std::string& name) {
    for (const auto& row : errorTable())
        if (row.dbusName == name)
            return row.code;
    return ErrorCode::Internal;
}

} // namespace

std::string encode(const ArchiveQuery& query) {
    if (query.report)
        return dump(Json{{"report", {{"since", query.report->since}, {"until", query.report->until}}}}) + "\n";
    auto filter = filterToJson(query.filter);
    if (query.allHostsOf) {
        filter = Json{{"all_hosts_of", *query.allHostsOf}};
        if (query.filter.profiles)
            put(filter, "profiles", true);
    }
    return dump(Json{{"filter", filter}}) + "\n";
}

Result<ArchiveQuery> decodeArchiveQuery(std::string_view line) {
    return decode<ArchiveQuery>(line, "the request to the archive", queryFromJson);
}

std::string encode(const ReportTable& table) {
    auto rows = Json::array();
    for (const auto& row : table.rows) {
        auto values = Json::array();
        for (const auto& value : row)
            values.push_back(optionalToJson(value));
        rows.push_back(std::move(values));
    }
    return dump(Json{{"table", table.name}, {"columns", table.columns}, {"rows", std::move(rows)}}) + "\n";
}

Result<ReportTable> decodeReportTable(std::string_view line) {
    return decode<ReportTable>(line, "a table of the archive", [](const Json& document) {
        ReportTable table{.name = document.at("table").get<std::string>(),
                          .columns = document.at("columns").get<std::vector<std::string>>(),
                          .rows = {}};
        for (const auto& row : document.at("rows")) {
            auto& values = table.rows.emplace_back();
            for (const auto& value : row)
                values.push_back(value.is_null() ? std::nullopt : std::optional(value.get<std::string>()));
        }
        return table;
    });
}

std::string encodeEnd(const Result<void>& outcome) {
    if (outcome)
        return std::string(kEnd) + ":true}\n";
    const auto& error = outcome.error();
    return dump(Json{{"error", {{"code", errorRow(error.code).dbusName}, {"message", error.message}}}}) + "\n";
}

std::optional<Result<void>> decodeEnd(std::string_view line) {
    if (line.starts_with(kEnd))
        return Result<void>();
    if (!line.starts_with(kError))
        return std::nullopt;
    const auto error = decode<std::pair<ErrorCode, std::string>>(line, "the error of the archive", [](const Json& document) {
        const auto& json = document.at("error");
        return std::pair(codeFromName(json.at("code").get<std::string>()), json.at("message").get<std::string>());
    });
    return Result<void>(error ? Error{error->first, legible(error->second, 4096)}
                              : Error{ErrorCode::Internal, error.error().message});
}

} // namespace pinfold
