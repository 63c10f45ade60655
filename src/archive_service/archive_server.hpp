// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "archive_service/auditors.hpp"
#include "archive_service/workers.hpp"
#include "base/clock.hpp"
#include "base/per_user_limit.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/descriptor_closer.hpp"
#include "os/sd_event_loop.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace pinfold {

/// Serves the socket of the archive. One thread handles all connections and never waits for the database or for a client. A
/// client gets one page of receipts at a time. The server reads the next page when the client has taken the previous page. A slow
/// client costs the server only the memory of one page.
class ArchiveServer {
public:
    /// Holds the maximum numbers of connections of one user, and of all users together. Connections of root are not limited.
    static constexpr std::size_t kMostConnectionsOfUser = 32;
    static constexpr std::size_t kMostConnections = 256;

    struct Parts {
        Workers& workers;
        const Auditors& auditors;
        SdEventLoop& loop; ///< serve() runs this event loop, so that `countsAs` learns the subordinate ids from the loop's events
        DescriptorCloser& closer;
        std::function<uid_t(uid_t)> countsAs; ///< returns the owner of a subordinate user id; returns other ids unchanged
        std::optional<Error> refusal;         ///< if set, all requests get this error as their answer
    };
    /// `listener` must not block.
    ArchiveServer(UniqueFd listener, Parts parts);
    ~ArchiveServer();
    ArchiveServer(const ArchiveServer&) = delete;
    ArchiveServer& operator=(const ArchiveServer&) = delete;

    /// Serves clients. Returns when no client has been connected for the time `idle`.
    void serve(Microseconds idle);

private:
    struct Connection;
    enum class Fate { Stays, Closes };

    void wait(Microseconds atMost);
    void acceptSome();
    void acceptOne(UniqueFd socket);
    void takePages();
    Fate handle(std::uint64_t id, Connection& connection, short events);
    Fate receive(std::uint64_t id, Connection& connection);
    Fate send(std::uint64_t id, Connection& connection);
    void begin(std::uint64_t id, Connection& connection, const std::string& line);
    Microseconds untilNextDeadline(Microseconds atMost) const;

    UniqueFd listener_;
    Parts parts_;
    PerUserLimit limit_;
    std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
    std::uint64_t lastId_ = 0;
};

} // namespace pinfold
