// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "config/archive_config.hpp"
#include "postgres/postgres_connection.hpp"
#include "ship/certificate.hpp"
#include "ship/endpoints.hpp"

#include <optional>
#include <string>

namespace pinfold {

/// The archive in a PostgreSQL database. PostgresArchive connects when it is asked something, and connects again after an error.
class PostgresArchive : public Archive {
public:
    /// How long a connection that nobody uses stays. Each connection is a process of the server, and a site has thousands of
    /// nodes.
    static constexpr Microseconds kIdle = 10s;

    PostgresArchive(ArchiveConfig config, std::string bootId) : config_(std::move(config)), bootId_(std::move(bootId)) {}

    Result<std::uint64_t> position(const std::string& epoch) override;
    Result<std::uint64_t> put(const Lot& lot) override;

    /// Closes the connection if it has been idle for kIdle.
    void rest();
    /// Returns when rest() has something to do; unset without a connection.
    std::optional<BootTime> restsAt() const { return connection_ ? std::optional(used_ + kIdle) : std::nullopt; }

    /// Returns the node's own certificate as it was at the last connection.
    const std::optional<Certificate>& certificate() const { return certificate_; }

private:
    using Parameters = std::vector<std::optional<std::string>>;

    Result<void> connect();
    /// Runs a function that returns a position. The first parameter is the name of the node.
    Result<std::uint64_t> ask(const std::string& sql, Parameters parameters, Microseconds timeout);

    ArchiveConfig config_;
    std::string bootId_;
    std::optional<Certificate> certificate_;
    std::optional<PostgresConnection> connection_;
    BootTime used_{}; ///< when the connection was last used
};

/// Returns the texts as the text of an array of PostgreSQL.
std::string arrayText(const std::vector<std::string>& texts);

} // namespace pinfold
