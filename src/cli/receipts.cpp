// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/receipts.hpp"

#include "base/paths.hpp"
#include "bus_client/manager_client.hpp"

#include <cstdio>

namespace pinfold {
namespace {

Result<std::vector<Receipt>> fromDaemon(const ReceiptFilter& filter) {
    const auto client = ManagerClient::connect();
    if (!client)
        return client.error();
    return client->receipts(filter);
}

} // namespace

Result<std::vector<Receipt>> findReceipts(const ReceiptFilter& filter) {
    auto receipts = fromDaemon(filter);
    if (receipts || receipts.error().code != ErrorCode::Unreachable)
        return receipts;
    const auto history = History::open(kHistoryFile, History::Mode::ReadOnly);
    if (!history)
        return receipts;
    std::fprintf(stderr, "pinfold: %s; the receipts are read from %s\n", receipts.error().message.c_str(), kHistoryFile);
    return history->list(filter);
}

} // namespace pinfold
