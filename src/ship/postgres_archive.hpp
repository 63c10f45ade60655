// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "config/archive_config.hpp"
#include "postgres/certificate.hpp"
#include "postgres/postgres_connection.hpp"
#include "ship/archive_view.hpp"
#include "ship/endpoints.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Stores receipts in the archive's PostgreSQL database. PostgresArchive connects when a call needs a connection, and connects
/// again after an error.
class PostgresArchive : public Archive {
public:
    /// The time after which an unused connection is closed. Unused connections must not stay open, because thousands of nodes can
    /// connect, and each connection takes a process of the server.
    static constexpr Microseconds kIdle = 10s;

    PostgresArchive(ArchiveConfig config, std::string bootId) : config_(std::move(config)), bootId_(std::move(bootId)) {}

    Result<std::uint64_t> position(const std::string& epoch) override;
    Result<std::uint64_t> put(const Lot& lot) override;

    /// Closes the connection if nobody has used it for the time kIdle.
    void rest();
    /// Returns the time at which rest() will close the connection, or nullopt if there is no connection.
    std::optional<BootTime> restsAt() const { return connection_ ? std::optional(used_ + kIdle) : std::nullopt; }

    /// Returns the certificate that pinfold-ship used for the last connection.
    const std::optional<Certificate>& certificate() const { return certificate_; }
    /// Returns what the archive's newest answer says about this node; unset before the first answer.
    const std::optional<ArchiveView>& view() const { return view_; }

private:
    using Parameters = std::vector<std::optional<std::string>>;

    Result<void> connect();
    /// Runs a statement that returns one row with `N` numbers. ask() passes the name of the node as the statement's first
    /// parameter, before `parameters`.
    template <std::size_t N>
    Result<std::array<std::uint64_t, N>> ask(const std::string& sql, Parameters parameters, Microseconds timeout);

    ArchiveConfig config_;
    std::string bootId_;
    std::optional<Certificate> certificate_;
    std::optional<ArchiveView> view_;
    std::optional<PostgresConnection> connection_;
    BootTime used_{}; ///< when the connection was last used
};

/// Returns the bytes as a PostgreSQL bytea in its text form.
std::string bytesText(const std::string& bytes);
/// Returns the texts as a PostgreSQL array in its text form.
std::string arrayText(const std::vector<std::string>& texts);

} // namespace pinfold
