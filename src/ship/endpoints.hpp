// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the interfaces through which pinfold-ship reads the node's receipts and writes to the archive. pinfold-ship carries
// receipts from the node to the archive. The unit tests have their own classes that implement the node and the archive.
#pragma once

#include "base/result.hpp"
#include "ship/lot.hpp"
#include "store/history.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

/// Declares how pinfold-ship reads the receipts in pinfoldd's history.
class NodeReceipts {
public:
    virtual ~NodeReceipts() = default;
    /// Returns the receipts that match the filter. list() can return every error that ManagerClient::receipts() can return.
    virtual Result<std::vector<Receipt>> list(const ReceiptFilter& filter) = 0;
};

/// Stores receipts in the site's archive.
class Archive {
public:
    virtual ~Archive() = default;
    /// Returns the sequence up to which the archive has all receipts of the epoch. The result is 0 if the archive does not know
    /// the epoch. position() can return every error of PostgresConnection::connect() and of PostgresConnection::run().
    virtual Result<std::uint64_t> position(const std::string& epoch) = 0;
    /// Stores the receipts of `lot`, and then returns the same number as position(). The error is InvalidArgument if receipts
    /// between the archive's position and the first receipt of `lot` are missing. put() can fail with the same errors as
    /// position(). If put() fails, it is possible that the archive has stored the receipts of `lot`.
    virtual Result<std::uint64_t> put(const Lot& lot) = 0;
};

} // namespace pinfold
