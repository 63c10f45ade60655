// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/archive_status.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/json_document.hpp"
#include "wording/wrap.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace pinfold {
namespace {

constexpr std::size_t kMostNamed = 5;

struct Troubled {
    const ArchiveNode* node;
    std::string trouble;
};

std::vector<Troubled> troubled(const ArchiveStatus& status, const TableStyle& style) {
    std::vector<Troubled> list;
    for (const auto& node : status.nodes)
        if (auto trouble = archiveTrouble(node, status.now, style); !trouble.empty())
            list.push_back({&node, std::move(trouble)});
    return list;
}

/// Ignores the nodes that have trouble, and returns the lowest `complete` of all other nodes. Returns nullopt if all nodes have
/// trouble.
std::optional<RealTime> completeUpTo(const ArchiveStatus& status) {
    std::optional<RealTime> earliest;
    for (const auto& node : status.nodes)
        if (archiveTrouble(node, status.now, {}).empty())
            earliest = std::min(earliest.value_or(RealTime::max()), *node.complete);
    return earliest;
}

/// Returns a text such as "node1 (silent since 09:40), node2 (3 receipts missing) and 12 more nodes".
std::string named(const std::vector<Troubled>& list) {
    std::string text;
    const auto shown = std::min(list.size(), list.size() > kMostNamed + 1 ? kMostNamed : list.size());
    for (std::size_t i = 0; i < shown; ++i)
        text += fmt::format("{}{} ({})",
                            i == 0                 ? ""
                            : i + 1 == list.size() ? " and "
                                                   : ", ",
                            printable(list[i].node->node, 100), list[i].trouble);
    if (shown < list.size())
        text += fmt::format(" and {} more nodes", list.size() - shown);
    return text;
}

std::string sentence(const ArchiveStatus& status, const std::vector<Troubled>& list, const TableStyle& style) {
    if (status.nodes.empty())
        return "The archive is empty: no node has sent receipts yet.";
    const auto upTo = completeUpTo(status);
    const auto of = counted(status.nodes.size(), "node", "nodes");
    if (!upTo)
        return fmt::format("{}: the archive is not complete: {}", of, named(list));
    return fmt::format("{}: complete up to {}{}", of, tableTime(*upTo, style), list.empty() ? "" : " except " + named(list));
}

Json toJson(const ArchiveNode& node, RealTime now) {
    return {{"node", node.node},
            {"complete", archiveTrouble(node, now, {}).empty()},
            {"epoch", node.epoch},
            {"position", node.position},
            {"newest", node.newest},
            {"unsent", node.unsent},
            {"missing", node.missing},
            {"rejected", node.rejected},
            {"replaced_histories", node.replacedHistories},
            {"restored", optionalToJson(node.restored)},
            {"seen", node.seen},
            {"complete_up_to", optionalToJson(node.complete)},
            {"clock_off", node.clockOff}};
}

} // namespace

bool ArchiveStatus::complete() const {
    return !nodes.empty() &&
           std::ranges::all_of(nodes, [this](const auto& node) { return archiveTrouble(node, now, {}).empty(); });
}

std::string archiveTrouble(const ArchiveNode& node, RealTime now, const TableStyle& style) {
    std::string reasons;
    const auto add = [&reasons](const std::string& reason) { reasons += (reasons.empty() ? "" : ", ") + reason; };
    const auto receipts = [](std::uint64_t count) { return counted(count, "receipt", "receipts"); };
    if (node.missing > 0)
        add(fmt::format("{} missing", receipts(node.missing)));
    if (node.rejected > 0)
        add(fmt::format("{} rejected", receipts(node.rejected)));
    if (node.restored)
        add(fmt::format("an older copy of its history restored at {}", tableTime(*node.restored, style)));
    if (timeBetween(node.seen, now) > kArchiveSilence)
        add(fmt::format("silent since {}", tableTime(node.seen, style)));
    else if (!node.complete)
        add(fmt::format("{} not sent yet", receipts(node.unsent)));
    else if (timeBetween(*node.complete, now) > kArchiveSilence)
        add(fmt::format("{} not sent since {}", receipts(node.unsent), tableTime(*node.complete, style)));
    return reasons;
}

std::string archiveStatusPage(const ArchiveStatus& status, const TableStyle& style) {
    const auto list = troubled(status, style);
    auto page = style.pairs ? std::string() : wrapped(sentence(status, list, style), style.width) + "\n";
    if (list.empty())
        return page;
    const std::vector<Column> columns{{.name = "node", .least = 16},
                                      {.name = "missing", .number = true},
                                      {.name = "rejected", .number = true},
                                      {.name = "unsent", .number = true},
                                      {.name = "seen"},
                                      {.name = "complete_up_to", .heading = "complete"},
                                      {.name = "position", .number = true, .leaves = 3},
                                      {.name = "clock_off", .number = true, .leaves = 2, .heading = "clock"},
                                      {.name = "replaced_histories", .number = true, .leaves = 4, .heading = "replaced"}};
    std::vector<std::vector<std::string>> cells;
    for (const auto& [node, trouble] : list)
        cells.push_back({printable(node->node), std::to_string(node->missing), std::to_string(node->rejected),
                         std::to_string(node->unsent), tableTime(node->seen, style),
                         node->complete ? tableTime(*node->complete, style) : "-", std::to_string(node->position),
                         fmt::format("{:+.1f}s", static_cast<double>(node->clockOff) / 1e6),
                         std::to_string(node->replacedHistories)});
    return page + (style.pairs ? "" : "\n") + formatTable(columns, cells, style);
}

std::string jsonArchiveStatus(const ArchiveStatus& status) {
    auto nodes = Json::array();
    for (const auto& node : status.nodes)
        nodes.push_back(toJson(node, status.now));
    return document({{"complete", status.complete()},
                     {"complete_up_to", optionalToJson(completeUpTo(status))},
                     {"time", status.now},
                     {"nodes", std::move(nodes)}});
}

} // namespace pinfold
