// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts and ends placeholders. A placeholder is an idle child process of pinfoldd. A scope must have a process. The first
// process of a scope is a placeholder if pinfoldd must not give systemd the ids of the scope's real processes.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/event_loop.hpp"

#include <sys/types.h>

#include <functional>
#include <map>

namespace pinfold {

/// Starts and ends placeholders. The unit tests have their own class that implements Placeholders.
class Placeholders {
public:
    virtual ~Placeholders() = default;

    /// Starts a placeholder, and returns its process id. The placeholder does not outlive pinfoldd. No other process gets the
    /// placeholder's process id until release() is called. Error: Internal.
    virtual Result<pid_t> start() = 0;
    /// Returns false if the placeholder has ended, for example because another program killed it.
    virtual bool lives(pid_t placeholder) const = 0;
    /// Ends the placeholder. Calls the function `over` when the placeholder has ended.
    virtual void end(pid_t placeholder, std::function<void()> over) = 0;
    /// Ends the placeholder if it still runs. After release(), another process can get the placeholder's process id, so do not
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
