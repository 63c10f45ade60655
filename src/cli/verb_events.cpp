// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/event_line.hpp"
#include "cli/verbs.hpp"

#include <chrono>
#include <cstdio>

namespace pinfold {

ExitStatus verbEvents(const VerbContext& context) {
    auto watch = EventsWatch::connect();
    if (!watch)
        return fail(watch.error());
    // Past the pager: whoever reads this reads each line as it comes.
    const auto heard = watch->listen([&context](const Event& event) {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto time = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
        std::fputs((context.line.json ? jsonEvent(event, time) : eventLine(event, time)).c_str(), stdout);
        return std::fflush(stdout) == 0;
    });
    return heard ? ExitStatus::Ok : fail(heard.error());
}

} // namespace pinfold
