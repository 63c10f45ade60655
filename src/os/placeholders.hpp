// SPDX-License-Identifier: LGPL-2.1-or-later
// Processes of pinfoldd's own that do nothing. A scope can't be without a process: it begins with one of these where those that
// are to be in it must not be named to systemd by their numbers.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/event_loop.hpp"

#include <sys/types.h>

#include <functional>
#include <map>

namespace pinfold {

/// Seam.
class Placeholders {
public:
    virtual ~Placeholders() = default;

    /// It ends with pinfoldd at the latest. Its number is nobody else's until release(). Error: Internal.
    virtual Result<pid_t> start() = 0;
    /// False: it has been ended, by somebody else perhaps.
    virtual bool lives(pid_t placeholder) const = 0;
    /// Calls `over` when it has ended.
    virtual void end(pid_t placeholder, std::function<void()> over) = 0;
    /// Ends it, if it lives, and it is not to be named any more.
    virtual void release(pid_t placeholder) = 0;
};

class ForkedPlaceholders : public Placeholders {
public:
    explicit ForkedPlaceholders(EventLoop& loop) : loop_(loop) {} // the loop's thread is the main one

    Result<pid_t> start() override;
    bool lives(pid_t placeholder) const override;
    void end(pid_t placeholder, std::function<void()> over) override;
    void release(pid_t placeholder) override;

private:
    struct Child {
        UniqueFd pidfd;
        EventHandle watch; ///< of its end
    };

    EventLoop& loop_;
    std::map<pid_t, Child> children_;
};

} // namespace pinfold
