// SPDX-License-Identifier: LGPL-2.1-or-later
// The two ends between which pinfold-ship carries receipts. Tests use other implementations.
#pragma once

#include "base/result.hpp"
#include "ship/lot.hpp"
#include "store/history.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

/// The receipts that pinfoldd has.
class NodeReceipts {
public:
    virtual ~NodeReceipts() = default;
    /// Errors: as ManagerClient::receipts().
    virtual Result<std::vector<Receipt>> list(const ReceiptFilter& filter) = 0;
};

/// The site's archive.
class Archive {
public:
    virtual ~Archive() = default;
    /// Returns the sequence up to which the archive has the receipts of the epoch, or 0 if it does not know the epoch. Errors:
    /// as PostgresConnection::connect() and PostgresConnection::run().
    virtual Result<std::uint64_t> position(const std::string& epoch) = 0;
    /// Stores a lot, and returns the position after it. The error InvalidArgument says that the lot begins after the archive's
    /// position, so that receipts would be missing. Other errors: as position(). After an error, the archive may have stored
    /// the lot all the same.
    virtual Result<std::uint64_t> put(const Lot& lot) = 0;
};

} // namespace pinfold
