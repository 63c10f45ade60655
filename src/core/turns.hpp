// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <utility>

namespace pinfold {

/// Moves of processes into a job take turns with everything that hits all processes of the job at once. A process that a move
/// brought there by mistake must not be hit before it is put back. Turns are first come, first served; turns of the same kind run
/// at the same time.
class Turns {
public:
    enum class Kind { Move, Hit };

    /// Calls `begin` when the turn comes, possibly at once. over() ends the turn.
    void take(Kind kind, std::function<void()> begin) {
        waiting_.emplace_back(kind, std::move(begin));
        next();
    }
    void over() {
        --underWay_;
        next();
    }

private:
    void next() {
        while (!waiting_.empty() && (underWay_ == 0 || waiting_.front().first == kind_)) {
            const auto [kind, begin] = std::move(waiting_.front());
            waiting_.pop_front();
            kind_ = kind;
            ++underWay_;
            begin();
        }
    }

    Kind kind_ = Kind::Move;
    std::size_t underWay_ = 0;
    std::list<std::pair<Kind, std::function<void()>>> waiting_; // a deque takes 600 bytes of each job while it is empty
};

} // namespace pinfold
