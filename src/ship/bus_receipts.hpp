// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/manager_client.hpp"
#include "bus_client/node_client.hpp"
#include "ship/endpoints.hpp"

#include <optional>
#include <string>

namespace pinfold {

/// Gets receipts from pinfoldd over D-Bus. BusReceipts connects to the bus at the first call, and again after an error of the
/// connection. BusReceipts never starts pinfoldd, because an administrator has possibly stopped pinfoldd on purpose.
class BusReceipts : public NodeReceipts {
public:
    Result<std::vector<Receipt>> list(const ReceiptFilter& filter) override;

private:
    Result<void> connect();

    std::optional<NodeClient> bus_;
    std::optional<ManagerClient> manager_;
    std::string owner_; ///< the unique name of the pinfoldd to which manager_ sends its calls
};

} // namespace pinfold
