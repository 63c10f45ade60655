// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/leftover_table.hpp"

#include "base/word_list.hpp"
#include "cli/format.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

std::string stateOf(const LeftoverFile& leftover, LeftoverAction action) {
    if (leftover.removed)
        return leftover.others > 0 ? "removed, except other users' files" : "removed";
    if (leftover.kept)
        return "kept: " + std::string(reason(*leftover.kept));
    if (leftover.error)
        return "not removed";
    return action == LeftoverAction::DryRun ? "would be removed" : "may go";
}

std::string jobsInWords(const JobsOfFile& jobs) {
    return joined(jobs.keys, ",") + (jobs.count > jobs.keys.size() ? fmt::format(",+{}", jobs.count - jobs.keys.size()) : "");
}

} // namespace

std::string leftoverTable(const LeftoverListing& listing, LeftoverAction action, const Amounts& amounts,
                          const TableStyle& style) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& leftover : listing.files) {
        const auto& file = leftover.file;
        rows.push_back({std::string(toString(file.kind)), userName(file.uid), amounts.size(file.tree.size),
                        std::to_string(file.tree.entries), file.born ? tableTime(*file.born, style) : "-",
                        jobsInWords(leftover.jobs), stateOf(leftover, action), nameOf(file)});
    }
    const std::vector<Column> columns{{.name = "kind"},
                                      {.name = "user", .least = 8},
                                      {.name = "size", .number = true},
                                      {.name = "entries", .number = true, .leaves = 2},
                                      {.name = "born", .leaves = 1},
                                      {.name = "jobs", .least = 12},
                                      {.name = "state", .least = 12},
                                      {.name = "name", .least = 15}};
    return formatTable(columns, rows, style);
}

} // namespace pinfold
