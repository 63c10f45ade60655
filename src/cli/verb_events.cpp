// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/event_line.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"

#include <cstdio>

namespace pinfold {
namespace {

struct EventsOptions {
    bool json = false;
};

/// `pinfold events` always prints one document per line. `pinfold events` accepts --json=lines in place of --json, because
/// `pinfold history` has the option --json=lines.
OptionSet describe(EventsOptions& options) {
    return {{.name = "--json",
             .value = "FORM",
             .help = "print one JSON document per line",
             .set = into(options.json),
             .values = Values::Optional,
             .words = {"lines"}}};
}

ExitStatus events(const VerbContext& context, const EventsOptions& options) {
    auto watch = EventsWatch::connect();
    if (!watch)
        return fail(watch.error());
    // `pinfold events` uses no pager, because a user wants to see each event at once.
    const auto heard = watch->listen([json = context.json || options.json](const Event& event) {
        if (event.name == kReceiptsStored) // the event job-removed already reports the end of each job
            return true;
        const auto time = RealClock::now();
        std::fputs((json ? jsonEvent(event, time) : eventLine(event, time)).c_str(), stdout);
        return std::fflush(stdout) == 0;
    });
    return heard ? ExitStatus::Ok : fail(heard.error());
}

} // namespace

Verb eventsVerb() {
    return makeVerb<EventsOptions>("events", "print events of jobs as they happen, until interrupted", describe, events);
}

} // namespace pinfold
