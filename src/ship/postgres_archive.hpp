// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

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
    PostgresArchive(ArchiveConfig config, std::string bootId) : config_(std::move(config)), bootId_(std::move(bootId)) {}

    Result<std::uint64_t> position(const std::string& epoch) override;
    Result<std::uint64_t> put(const Lot& lot) override;

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
};

/// Returns the texts as the text of an array of PostgreSQL.
std::string arrayText(const std::vector<std::string>& texts);

} // namespace pinfold
