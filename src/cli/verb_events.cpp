// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/event_line.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"

#include <cstdio>

namespace pinfold {

ExitStatus verbEvents(const VerbContext& context) {
    auto watch = EventsWatch::connect();
    if (!watch)
        return fail(watch.error());
    // Bypass the pager: the reader wants each line as soon as it comes.
    const auto heard = watch->listen([&context](const Event& event) {
        const auto time = realTimeNow();
        std::fputs((context.line.json ? jsonEvent(event, time) : eventLine(event, time)).c_str(), stdout);
        return std::fflush(stdout) == 0;
    });
    return heard ? ExitStatus::Ok : fail(heard.error());
}

} // namespace pinfold
