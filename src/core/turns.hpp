// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <utility>

namespace pinfold {

/// Coordinates actions of two kinds on a job: moves and hits. An action of the kind Move moves processes into the job. A Hit is
/// an action on all processes of the job, such as a signal. A Move and a Hit never run at the same time. A Move can move a wrong
/// process into the job by mistake, and then puts the wrong process back. Without Turns, a signal could reach a process that a
/// Move has put into the job by mistake. Actions begin in the order of the calls of take(). Two actions of the same kind can run
/// at the same time.
class Turns {
public:
    enum class Kind { Move, Hit };

    /// Calls `begin` when it is the action's turn, possibly before take() returns. When the action has ended, the caller must
    /// call over().
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
    // `waiting` is a std::list, because an empty std::deque would take 600 bytes in each job.
    std::list<std::pair<Kind, std::function<void()>>> waiting_;
};

} // namespace pinfold
