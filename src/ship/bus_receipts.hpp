// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/manager_client.hpp"
#include "bus_client/node_client.hpp"
#include "ship/endpoints.hpp"

#include <optional>

namespace pinfold {

/// The receipts of pinfoldd over D-Bus. BusReceipts connects to the bus when it is asked something, and connects again after an
/// error of the connection. It does not start pinfoldd: a pinfoldd that an administrator has stopped stays stopped.
class BusReceipts : public NodeReceipts {
public:
    Result<std::vector<Receipt>> list(const ReceiptFilter& filter) override;

private:
    Result<void> connect();

    std::optional<NodeClient> bus_;
    std::optional<ManagerClient> manager_;
};

} // namespace pinfold
