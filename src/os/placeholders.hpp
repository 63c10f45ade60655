// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts and ends placeholders, which are processes of pinfoldd's own that do nothing. A scope must have a process. If pinfoldd
// must not tell systemd the process ids of a new scope's real processes, the first process of the scope is a placeholder.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/event_loop.hpp"

#include <sys/types.h>

#include <functional>
#include <map>

namespace pinfold {

/// Starts and ends placeholders. Tests use another implementation of Placeholders.
class Placeholders {
public:
    virtual ~Placeholders() = default;

    /// Starts a placeholder, and returns its process id. The placeholder ends at the latest when pinfoldd ends. No other process
    /// gets the same process id until release(). Error: Internal.
    virtual Result<pid_t> start() = 0;
    /// Returns false if the placeholder has ended, for example because another program killed it.
    virtual bool lives(pid_t placeholder) const = 0;
    /// Ends the placeholder, and calls `over` when it has ended.
    virtual void end(pid_t placeholder, std::function<void()> over) = 0;
    /// Ends the placeholder if it still runs. After release(), another process may get the placeholder's process id, so do not
    /// use the process id any more.
    virtual void release(pid_t placeholder) = 0;
};

class ForkedPlaceholders : public Placeholders {
public:
    explicit ForkedPlaceholders(EventLoop& loop) : loop_(loop) {} // the thread of `loop` must be pinfoldd's main thread

    Result<pid_t> start() override;
    bool lives(pid_t placeholder) const override;
    void end(pid_t placeholder, std::function<void()> over) override;
    void release(pid_t placeholder) override;

private:
    struct Child {
        UniqueFd pidfd;
        EventHandle watch; ///< the registration of the handler that is called when the placeholder ends
    };

    EventLoop& loop_;
    std::map<pid_t, Child> children_;
};

} // namespace pinfold
