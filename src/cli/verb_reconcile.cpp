// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/manager_client.hpp"
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct ReconcileOptions {
    bool dryRun = false;
};

OptionSet describe(ReconcileOptions& options) { return {dryRunOption(options.dryRun)}; }

std::string inWords(const Reconciliation& found) {
    std::string lines;
    std::size_t left = 0;
    std::size_t all = 0;
    forEachOrphanKind(found, [&](std::string_view kind, const std::vector<std::string>& names) {
        all += names.size();
        left += kind.ends_with("_left") || kind == "records_unreadable" ? names.size() : 0;
        for (const auto& name : names)
            lines += orphanInWords(kind, name) + "\n";
    });
    if (all == 0)
        return "all units, cgroups and records are in order\n";
    return fmt::format("{}{} put in order, {} left alone\n", lines, all - left, left);
}

ExitStatus reconcile(const VerbContext& context, const ReconcileOptions& options) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto found = client->reconcile(options.dryRun);
    if (!found)
        return fail(found.error());
    if (context.json)
        context.terminal.print(jsonReconciliation(*found));
    else
        context.terminal.print((options.dryRun ? "Dry run; nothing was changed:\n" : "") + inWords(*found));
    return found->clean() ? ExitStatus::Ok : ExitStatus::Failed;
}

} // namespace

Verb reconcileVerb() {
    return makeVerb<ReconcileOptions>("reconcile", "repair units, cgroups and records after a crash", describe, reconcile);
}

} // namespace pinfold
