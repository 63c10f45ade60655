// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/bus_receipts.hpp"

#include "base/bus_names.hpp"

namespace pinfold {

Result<std::vector<Receipt>> BusReceipts::list(const ReceiptFilter& filter) {
    auto connected = connect();
    auto receipts = connected ? manager_->receipts(filter) : Result<std::vector<Receipt>>(connected.error());
    if (!receipts && (receipts.error().code == ErrorCode::Unreachable || receipts.error().code == ErrorCode::TimedOut)) {
        bus_.reset();
        manager_.reset();
    }
    return receipts;
}

Result<void> BusReceipts::connect() {
    if (!bus_) {
        auto bus = NodeClient::connect();
        if (!bus)
            return bus.error();
        bus_ = *std::move(bus);
    }
    // BusReceipts calls pinfoldd by its unique name on the bus. If an administrator has just stopped pinfoldd, a call to the name
    // kBusName would start pinfoldd again.
    const auto owner = bus_->ownerOf(kBusName);
    if (!owner)
        return owner.error();
    if (!*owner)
        return Error{ErrorCode::Unreachable, "pinfoldd does not run"};
    if (!manager_ || owner_ != **owner) {
        auto manager = ManagerClient::connectTo(**owner);
        if (!manager)
            return manager.error();
        manager_ = *std::move(manager);
        owner_ = **owner;
    }
    return {};
}

} // namespace pinfold
