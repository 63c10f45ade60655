// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct Options {
    std::optional<Microseconds> maxAge;
    std::optional<std::uint64_t> maxSize; ///< the new maximum size of the history, in bytes
};

OptionSet describe(Options& options) {
    return {{.name = "--max-age",
             .value = "TIME",
             .help = "remove receipts that are older than this (default: as configured)",
             .set = into(options.maxAge, parseDuration)},
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
