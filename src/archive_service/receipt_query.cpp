// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/receipt_query.hpp"

#include "base/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

/// PostgreSQL accepts times until the year 294276, and gmtime_r(3) accepts even later times. kLastTime is the end of the year
/// 9999.
constexpr auto kLastTime = fromUsec<RealTime>(253'402'300'799'999'999);

const char* wordOf(JobOutcome outcome) {
    switch (outcome) {
    case JobOutcome::Failed:
        return "failed";
    case JobOutcome::Succeeded:
        return "succeeded";
    case JobOutcome::Unknown:
        break;
    }
    return "unknown";
}

class Builder {
public:
    /// Adds a parameter, and returns the text that stands for the parameter in the statement, such as "$3".
    std::string parameter(std::string value) {
        query_.parameters.emplace_back(std::move(value));
        return fmt::format("${}", query_.parameters.size());
    }
    void where(const std::string& condition) { conditions_ += (conditions_.empty() ? " WHERE " : " AND ") + condition; }
    const std::string& conditions() const { return conditions_; }
    SqlQuery finish(std::string sql) {
        query_.sql = std::move(sql);
        return std::move(query_);
    }

private:
    SqlQuery query_;
    std::string conditions_;
};

void addLabel(Builder& builder, const LabelFilter& label) {
    const auto name = builder.parameter(label.name);
    if (label.value)
        builder.where(fmt::format("labels ->> {}::text = {}", name, builder.parameter(*label.value)));
    else
        builder.where(fmt::format("labels ? {}::text", name));
}

void addOutcomes(Builder& builder, const std::vector<JobOutcome>& outcomes) {
    std::vector<std::string> words;
    for (const auto outcome : outcomes)
        words.push_back(builder.parameter(wordOf(outcome)));
    builder.where(fmt::format("outcome IN ({})", fmt::join(words, ", ")));
}

void addFilter(Builder& builder, const ReceiptFilter& filter) {
    if (filter.key)
        builder.where("key = " + builder.parameter(*filter.key));
    if (filter.uid)
        builder.where("uid = " + builder.parameter(std::to_string(*filter.uid)));
    if (filter.since)
        builder.where("ended >= " + builder.parameter(timestamp(*filter.since)));
    if (filter.until)
        builder.where("ended < " + builder.parameter(timestamp(*filter.until)));
    if (filter.result)
        builder.where("result = " + builder.parameter(*filter.result));
    if (filter.scheduler)
        builder.where(fmt::format("starts_with(key, {})", builder.parameter(*filter.scheduler + ".")));
    if (filter.leftoversOnly)
        builder.where("leftovers > 0");
    if (!filter.outcomes.empty())
        addOutcomes(builder, filter.outcomes);
    if (filter.label)
        addLabel(builder, *filter.label);
}

void addRun(Builder& builder, const RunOfJob& run) {
    builder.where("cluster = " + builder.parameter(run.cluster));
    builder.where("key = " + builder.parameter(run.key));
    builder.where("run = " + builder.parameter(run.run));
    builder.where("uid = " + builder.parameter(run.uid));
    builder.where("ended >= " + builder.parameter(run.since));
}

/// addPlace() adds a condition on the column `ended`, so that PostgreSQL can skip partitions. With the condition (ended, node,
/// id) < (...), but without a condition on `ended`, PostgreSQL would read all partitions.
void addPlace(Builder& builder, const ReceiptPlace& after) {
    const auto ended = builder.parameter(after.ended);
    const auto node = builder.parameter(after.node);
    const auto id = builder.parameter(after.id);
    builder.where("ended <= " + ended);
    builder.where(fmt::format("(ended, node, id) < ({}, {}, {})", ended, node, id));
}

// An attacker who controls a node can write the name of another host into the node's receipts. If the host in a receipt is not
// the host in the node's certificate, kBody has the name from the certificate. The query compares the two host names only up to
// the first dot.
constexpr const char* kBody = "CASE WHEN split_part(lower(body ->> 'host'), '.', 1) = split_part(lower(node), '.', 1) THEN body"
                              " ELSE body || jsonb_build_object('host', node) END";

/// Adds the profile. If the node itself has written a member `profile` into the receipt, the profile from the database replaces
/// the member.
constexpr const char* kWithProfile =
    " || jsonb_build_object('profile', (SELECT encode(profile.body, 'hex') FROM pinfold.profile"
    " WHERE profile.node = receipt.node AND profile.id = receipt.id AND profile.ended = receipt.ended))";

} // namespace

std::string timestamp(RealTime time) {
    const auto usec = toUsec(std::min(time, kLastTime));
    const auto seconds = static_cast<std::time_t>(usec / 1'000'000);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}+00", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                       utc.tm_hour, utc.tm_min, utc.tm_sec, usec % 1'000'000);
}

SqlQuery pageQuery(const ReceiptSelection& selection, const std::optional<ReceiptPlace>& after, PageSize size) {
    Builder builder;
    if (selection.visibleTo)
        builder.where("uid = " + builder.parameter(std::to_string(*selection.visibleTo)));
    addFilter(builder, selection.filter);
    if (selection.run)
        addRun(builder, *selection.run);
    if (after)
        addPlace(builder, *after);
    const auto rows = builder.parameter(std::to_string(size.rows));
    const auto bytes = builder.parameter(std::to_string(size.bytes));
    return builder.finish(fmt::format("SELECT ended, node, id, body FROM ("
                                      "SELECT ended, node, id, body, sum(octet_length(body)) OVER newest_first"
                                      " - octet_length(body) AS bytes_before FROM ("
                                      "SELECT ended, node, id, (({}){})::text AS body FROM pinfold.receipt{}"
                                      " ORDER BY ended DESC, node DESC, id DESC LIMIT {}) AS page"
                                      " WINDOW newest_first AS (ORDER BY ended DESC, node DESC, id DESC)) AS sized"
                                      " WHERE bytes_before < {} ORDER BY ended DESC, node DESC, id DESC",
                                      kBody, selection.filter.profiles ? kWithProfile : "", builder.conditions(), rows, bytes));
}

// The newest run is the run that started last, and not the run that ended last. If a node went down during an earlier run, the
// node possibly writes the receipt of the earlier run days later. The end time in a late receipt can be after all end times of
// the newest run. Batch systems reuse job numbers, for example Grid Engine after 9,999,999 jobs. The query compares the end in
// each receipt with the earliest start in the receipts that have a later end. If the end is more than a day before that start,
// the receipt belongs to an older job with the same number. The clocks of the hosts can differ, so the query ignores gaps of less
// than a day between two runs.
SqlQuery newestRunQuery(const std::string& key, std::optional<uid_t> visibleTo) {
    Builder builder;
    builder.where("key = " + builder.parameter(key));
    if (visibleTo)
        builder.where("uid = " + builder.parameter(std::to_string(*visibleTo)));
    return builder.finish(fmt::format(
        "WITH newest AS (SELECT cluster, key, run, uid FROM pinfold.receipt{} ORDER BY started DESC, node DESC, id DESC LIMIT 1),"
        " ends AS (SELECT receipt.cluster, receipt.run, receipt.uid, receipt.ended,"
        " receipt.ended < min(receipt.started) OVER newer - interval '1 day' AS earlier"
        " FROM pinfold.receipt JOIN newest USING (cluster, key, run, uid)"
        " WINDOW newer AS (ORDER BY receipt.ended DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))"
        " SELECT cluster, run, uid, min(ended) AS since FROM ends"
        " WHERE ended > coalesce((SELECT max(ended) FROM ends WHERE earlier), '-infinity') GROUP BY cluster, run, uid",
        builder.conditions()));
}

bool isKeyOfOneNode(const std::string& key) {
    constexpr std::string_view kManual = "manual.";
    return key.starts_with(kManual) && parseUnsigned(std::string_view(key).substr(kManual.size()));
}

} // namespace pinfold
