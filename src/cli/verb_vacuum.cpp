// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr Microseconds kLeastAgeWithoutUnit = 1h;

struct Options {
    std::optional<Microseconds> maxAge;
    std::optional<std::uint64_t> maxSize; ///< the new maximum size of the history, in bytes
};

/// Reads a duration. A short duration needs a unit: who types `--max-age 30` means days, and would lose nearly all receipts.
Result<Microseconds> ageWithUnit(const std::string& text) {
    const auto age = parseDuration(text);
    if (age && *age > 0s && *age < kLeastAgeWithoutUnit && parseUnsigned(text))
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("'{0}' without a unit means {0} seconds: write {0}s, {0}h or {0}d", text)};
    return age;
}

OptionSet describe(Options& options) {
    return {{.name = "--max-age",
             .value = "TIME",
             .help = "remove receipts that are older than this (default: as configured)",
             .set = into(options.maxAge, ageWithUnit)},
            {.name = "--max-size",
             .value = "SIZE",
             .help = "remove the oldest receipts until the rest fits in this size (default: as configured)",
             .set = into(options.maxSize, parseSize)}};
}

ExitStatus vacuum(const VerbContext& context, const Options& options) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto done = client->vacuum({.maxAge = options.maxAge, .maxBytes = options.maxSize});
    if (!done)
        return fail(done.error());
    context.terminal.print(context.json
                               ? jsonVacuumed(*done)
                               : fmt::format("{} removed; the remaining receipts take {}\n",
                                             counted(done->removed, "receipt", "receipts"), context.amounts.size(done->bytes)));
    return ExitStatus::Ok;
}

} // namespace

Verb vacuumVerb() { return makeVerb("vacuum", "remove the oldest receipts", describe, vacuum); }

} // namespace pinfold
