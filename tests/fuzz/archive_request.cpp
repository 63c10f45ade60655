// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how the archive's service and its clients read lines from the service's socket. Any user can send a request to the
// service. If an attacker controls a node, the attacker can write any text into the receipts that the service sends.
#include "archive_client/archive_protocol.hpp"
#include "archive_service/receipt_query.hpp"
#include "fuzz.hpp"

using namespace pinfold;

namespace {

std::string sqlOf(const ReceiptFilter& filter) {
    return pageQuery({.filter = filter, .visibleTo = 1000}, {}, {.rows = 1, .bytes = 1}).sql;
}

/// Puts a fixed value in the place of each value that a caller has chosen.
ReceiptFilter withoutValues(ReceiptFilter filter) {
    for (auto* text : {&filter.key, &filter.result, &filter.scheduler})
        if (*text)
            *text = "x";
    if (filter.uid)
        filter.uid = 1;
    if (filter.since)
        filter.since = RealTime{};
    if (filter.until)
        filter.until = RealTime{};
    if (filter.label)
        filter.label = LabelFilter{"x", filter.label->value ? std::optional<std::string>("x") : std::nullopt};
    return filter;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto line = fuzz::text(data, size);
    if (const auto query = decodeArchiveQuery(line)) {
        auto encoded = encode(*query);
        fuzz::require(encoded.find('\n') == encoded.size() - 1, "a request is one line");
        encoded.pop_back();
        const auto again = decodeArchiveQuery(encoded);
        fuzz::require(again && *again == *query, "a request that is encoded again is the same request");
        fuzz::require(sqlOf(query->filter) == sqlOf(withoutValues(query->filter)), "no value is a part of the statement");
    } else {
        fuzz::requireOneLine(query.error());
    }
    if (const auto end = decodeEnd(line); end && !*end)
        fuzz::requireOneLine(end->error());
    if (const auto table = decodeReportTable(line)) {
        auto encoded = encode(*table);
        encoded.pop_back();
        const auto again = decodeReportTable(encoded);
        fuzz::require(again && encode(*again) == encode(*table), "a table that is encoded again is the same table");
    }
    return 0;
}
