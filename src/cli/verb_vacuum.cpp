// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr Microseconds kLeastAgeWithoutUnit = 1h;

struct VacuumOptions {
    std::optional<Microseconds> maxAge;
    std::optional<std::uint64_t> maxSize; ///< the new maximum size of the history, in bytes
    bool dryRun = false;
};

/// Reads a duration. A duration below kLeastAgeWithoutUnit must have a unit. A user who types `--max-age 30` usually means days,
/// but a number without a unit means seconds. If the maximum age were 30 seconds, pinfoldd would remove nearly all receipts.
Result<Microseconds> ageWithUnit(const std::string& text) {
    auto age = parseDuration(text);
    if (age && *age > 0s && *age < kLeastAgeWithoutUnit && parseUnsigned(text))
        return Error{ErrorCode::InvalidArgument, fmt::format("'{0}' without a unit means {1}: write {0}s, {0}h or {0}d", text,
                                                             counted(*age / 1s, "second", "seconds"))};
    return age;
}

OptionSet describe(VacuumOptions& options) {
    return {{.name = "--max-age",
             .value = "TIME",
             .help = "remove receipts that are older than this (default: as configured)",
             .set = into(options.maxAge, ageWithUnit)},
            {.name = "--max-size",
             .value = "SIZE",
             .help = "remove the oldest receipts until the rest fits in this size (default: as configured)",
             .set = into(options.maxSize, parseSize)},
            dryRunOption(options.dryRun)};
}

std::string inWords(const Vacuumed& done, bool dryRun, const Amounts& amounts) {
    const auto receipts = counted(done.removed, "receipt", "receipts");
    const auto left = amounts.size(done.bytes);
    if (dryRun)
        return fmt::format("Dry run; nothing was changed:\n{} would be removed; the remaining receipts would take {}\n", receipts,
                           left);
    return fmt::format("{} removed; the remaining receipts take {}\n", receipts, left);
}

ExitStatus vacuum(const VerbContext& context, const VacuumOptions& options) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto done =
        client->vacuum({.retention = {.maxAge = options.maxAge, .maxBytes = options.maxSize}, .dryRun = options.dryRun});
    if (!done)
        return fail(done.error());
    context.terminal.print(context.json ? jsonVacuumed(*done, options.dryRun) : inWords(*done, options.dryRun, context.amounts));
    return ExitStatus::Ok;
}

} // namespace

Verb vacuumVerb() { return makeVerb<VacuumOptions>("vacuum", "remove the oldest receipts", describe, vacuum); }

} // namespace pinfold
