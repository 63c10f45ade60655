// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/status_line.hpp"

#include "base/parse.hpp"
namespace pinfold {
namespace {

constexpr Microseconds kBetween = 1s;

} // namespace

std::string statusLine(std::size_t jobs, const std::optional<Drain>& drain, const std::string& rejected) {
    auto line = counted(jobs, "job", "jobs");
    if (drain)
        line += "; takes no new jobs" + (drain->reason.empty() ? "" : ": " + drain->reason);
    if (!rejected.empty())
        line += "; configuration rejected: " + rejected;
    return line;
}

void StatusTeller::changed() {
    if (due_)
        return;
    due_ = loop_.after(kBetween, [this] {
        due_.reset();
        tell_();
    });
}

} // namespace pinfold
