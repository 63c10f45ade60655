// SPDX-License-Identifier: LGPL-2.1-or-later
// Each column of a table has the name of a JSON key. --pairs, --columns and --sort use the names of the columns.
#include "golden_samples.hpp"

#include "cli/host_table.hpp"
#include "cli/idle_table.hpp"
#include "cli/job_page.hpp"
#include "cli/job_properties.hpp"
#include "cli/leftover_table.hpp"
#include "cli/list_table.hpp"
#include "cli/receipt_table.hpp"
#include "cli/top_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <regex>
#include <set>

namespace pinfold {
namespace {

using Names = std::set<std::string>;

const TableStyle kPairs{.pairs = true, .now = golden::kNow};

void addKeys(const nlohmann::json& json, Names& keys) {
    for (const auto& [key, value] : json.items()) {
        if (json.is_object())
            keys.insert(key);
        if (value.is_structured())
            addKeys(value, keys);
    }
}

Names keysOf(const std::string& document) {
    Names keys;
    addKeys(nlohmann::json::parse(document), keys);
    return keys;
}

/// Reads the names of the columns from the output of --pairs, and returns the names in lower case.
Names namesOf(const std::string& pairs) {
    static const std::regex pattern("(?:^| )([A-Z0-9_]+)=\"");
    const auto line = pairs.substr(0, pairs.find('\n'));
    Names names;
    for (std::sregex_iterator found(line.begin(), line.end(), pattern); found != std::sregex_iterator(); ++found) {
        auto name = (*found)[1].str();
        for (auto& c : name)
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        names.insert(name);
    }
    return names;
}

struct TableOf {
    const char* verb;
    Names columns;
    std::string document;
    Names made = {}; ///< columns that are made from several values of the document
};

std::vector<TableOf> tables() {
    // A receipt has the CPU time in user space and the CPU time in the kernel. A receipt has either an exit status or a signal.
    const Names ofReceipts{"cpu_time", "exit"};
    return {
        {"top", namesOf(topText(golden::topRows(), golden::kNow, {}, {.sort = "cpu", .pairs = true, .amounts = {}}, {})),
         jsonTop(golden::topRows(), golden::kNow)},
        {"ps", namesOf(processTable(golden::processes(), {}, kPairs)), jsonProcesses(golden::processes())},
        {"history", namesOf(receiptTable(golden::receipts(), {}, kPairs)), jsonReceipts(golden::receipts()), ofReceipts},
        {"why --hosts",
         namesOf(hostTable(golden::hosts(), {}, kPairs)),
         jsonHosts(golden::hosts()),
         {"after", "cpu_time", "exit"}},
        {"idle", namesOf(idleTable(golden::idle().jobs, {}, kPairs)), jsonIdle(golden::idle())},
        {"strays", namesOf(strayTable(golden::strays().rows, {}, kPairs)), jsonStrays(golden::strays())},
        {"strays --files",
         namesOf(leftoverTable(golden::leftovers(), LeftoverAction::List, {}, kPairs)),
         jsonLeftoverFiles(golden::leftovers()),
         {"name", "state"}},
        {"archive status", namesOf(archiveStatusPage(golden::archive(), kPairs)), jsonArchiveStatus(golden::archive())},
    };
}

TEST(Columns, haveTheNamesOfTheJsonKeys) {
    for (const auto& table : tables()) {
        EXPECT_GT(table.columns.size(), 6U) << table.verb;
        const auto keys = keysOf(table.document);
        for (const auto& column : table.columns)
            EXPECT_NE(keys.contains(column), table.made.contains(column)) << table.verb << " " << column;
    }
}

TEST(Columns, ofListHaveTheNamesOfTheJsonKeys) {
    auto keys = keysOf(jsonJob(golden::detail()));
    keys.merge(keysOf(jsonTop(golden::topRows(), golden::kNow)));
    for (const auto& name : listColumnNames())
        EXPECT_TRUE(keys.contains(name)) << name;
}

TEST(Columns, andPropertiesOfShowHaveTheNamesOfTheJsonKeys) {
    auto keys = keysOf(jsonJob(golden::detail()));
    keys.merge(keysOf(jsonReceipts(golden::receipts())));
    for (const auto& name : propertyNames())
        EXPECT_TRUE(keys.contains(name)) << name;
}

} // namespace
} // namespace pinfold
