// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/manager_client.hpp"
#include "ship/endpoints.hpp"

#include <optional>

namespace pinfold {

/// The receipts of pinfoldd over D-Bus. BusReceipts connects to the bus when it is asked something, and connects again after an
/// error of the connection.
class BusReceipts : public NodeReceipts {
public:
    Result<std::vector<Receipt>> list(const ReceiptFilter& filter) override {
        if (!client_) {
            auto connected = ManagerClient::connect();
            if (!connected)
                return connected.error();
            client_ = *std::move(connected);
        }
        auto receipts = client_->receipts(filter);
        if (!receipts && (receipts.error().code == ErrorCode::Unreachable || receipts.error().code == ErrorCode::TimedOut))
            client_.reset();
        return receipts;
    }

private:
    std::optional<ManagerClient> client_;
};

} // namespace pinfold
