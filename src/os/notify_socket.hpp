// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/event_loop.hpp"

#include <string>

namespace pinfold {

/// Tells systemd the state of this service, as sd_notify(3) does, but without blocking. If the queue of PID 1's socket is full,
/// sd_notify(3) waits until PID 1 reads from the socket. If a text does not fit into the socket's queue, NotifySocket sends the
/// text when the queue has room again. A newer text replaces an older text of the same kind, so NotifySocket keeps at most one
/// text of each kind. NotifySocket sends three kinds of text: a change of the service's state, a sign of life for the watchdog,
/// and the status text.
class NotifySocket {
public:
    /// Uses the socket that the environment variable NOTIFY_SOCKET names. If NOTIFY_SOCKET is not set, NotifySocket sends
    /// nothing.
    explicit NotifySocket(EventLoop& loop);

    /// Informs systemd about a change of the service's state, such as "READY=1". Returns an error if NotifySocket cannot use
    /// systemd's socket.
    Result<void> state(std::string assignment);
    /// Tells systemd the text that `systemctl status` shows. If systemd does not get a status, status() reports no error, because
    /// the next status will soon replace the lost one.
    void status(const std::string& text);
    /// Tells systemd regularly that the loop runs, if WatchdogSec= is set.
    void startWatchdog();

private:
    void feedWatchdog();
    Result<void> send();
    Result<void> open();

    EventLoop& loop_;
    std::string path_;
    std::string state_;  ///< the change of state that NotifySocket has not sent yet, or an empty text
    std::string alive_;  ///< the sign of life that NotifySocket has not sent yet, or an empty text
    std::string status_; ///< the status that NotifySocket has not sent yet, or an empty text
    UniqueFd socket_;    ///< NotifySocket keeps the socket open, because opening the socket for each text takes 8 system calls
    UniqueFd room_;      ///< an epoll(7) descriptor that is readable when socket_ is writable
    EventHandle roomAgain_;
    Microseconds watchdogInterval_{};
    EventHandle watchdog_;
};

} // namespace pinfold
