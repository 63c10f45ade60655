// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spank/ask.hpp"

#include "run/deadline.hpp"

#include <algorithm>

namespace pinfold {
namespace {

/// Returns the error for an administrator.
Error silence(bool away) {
    if (away)
        return {ErrorCode::Unreachable, "pinfoldd is not reachable; look at `systemctl status pinfoldd.socket pinfoldd`"};
    return {ErrorCode::TimedOut, "pinfoldd did not answer in time; look at `systemctl status pinfoldd`"};
}

} // namespace

Result<WrapperReply> answerOf(DaemonLink& link, Patience patience) {
    const Deadline read(patience.untilRead);
    const Deadline answered(patience.untilAnswered);
    for (;;) {
        if (auto outcome = link.advance())
            return *std::move(outcome);
        const auto away = link.away();
        if (answered.passed() || (away && read.passed()))
            return silence(away);
        auto wait = link.waitFor();
        const auto mine = (away ? read : answered).remainingMs();
        const auto its = link.timeoutMs();
        ::poll(&wait, 1, its < 0 ? mine : std::min(its, mine));
    }
}

} // namespace pinfold
