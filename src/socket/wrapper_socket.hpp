// SPDX-License-Identifier: LGPL-2.1-or-later
// Serves the wrapper's socket. pinfold-run and pam_pinfold send their requests to the wrapper's socket and not over the bus
// (model/wrapper_protocol.hpp).
#pragma once

#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "config/config.hpp"
#include "core/access/caller_limits.hpp"
#include "core/job_manager.hpp"
#include "model/wrapper_protocol.hpp"
#include "os/descriptor_closer.hpp"
#include "os/event_loop.hpp"
#include "socket/wrapper_packet.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

class WrapperSocket {
public:
    /// The maximum number of connections of one user. A user gets fewer connections if the limit on pinfoldd's open descriptors
    /// is low. A supervisor stays connected until pinfoldd has answered its request.
    static constexpr std::size_t kMostConnections = 1024;

    struct Parts {
        EventLoop& loop;
        JobManager& jobs;
        CallerLimits& clients;
        DescriptorCloser& closer;
        const Config& config; ///< the present configuration; a reload replaces all of its values
        std::function<void(const std::string&)> logError;
    };
    /// `listener` is the socket of pinfoldd.socket. WrapperSocket accepts no connection before open().
    WrapperSocket(UniqueFd listener, Parts parts);
    ~WrapperSocket();
    WrapperSocket(const WrapperSocket&) = delete;
    WrapperSocket& operator=(const WrapperSocket&) = delete;

    void open();

private:
    struct Connection;
    using ConnectionPtr = std::shared_ptr<Connection>;

    void acceptSome();
    /// Accepts no connections for a short time.
    void pause(int why);
    void tellShortage(const std::string& what);
    /// Counts a connection. Returns null if the user, or all users together, have reached the maximum number of connections.
    std::shared_ptr<void> count(const Caller& caller);
    void acceptOne(UniqueFd socket);
    /// Receives a request. Returns false if no request has come yet.
    bool receive(const ConnectionPtr& connection);
    void serve(const ConnectionPtr& connection, WrapperPacket packet);
    void handle(const ConnectionPtr& connection, WrapperPacket packet);
    void act(const ConnectionPtr& connection, const WrapperCreate& create, std::vector<ForeignFd> fds);
    void act(const ConnectionPtr& connection, const WrapperEnd& end, std::vector<ForeignFd> fds);
    void act(const ConnectionPtr& connection, const WrapperSuspend& suspend, std::vector<ForeignFd> fds);
    void act(const ConnectionPtr& connection, const WrapperList& list, std::vector<ForeignFd> fds);
    void act(const ConnectionPtr& connection, const WrapperAdopt& adopt, std::vector<ForeignFd> fds);

    UniqueFd listener_;
    Parts parts_;
    PerUserLimit connections_;        ///< the connections of ordinary users
    std::list<ConnectionPtr> silent_; ///< the connections that have not sent a request yet
    EventHandle readable_;
    EventHandle pause_;
    std::optional<BootTime> shortageTold_; ///< the time at which tellShortage() last wrote to the log
};

} // namespace pinfold
