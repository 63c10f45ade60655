// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "cli/json.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"
#include "text/receipt_text.hpp"

namespace pinfold {
namespace {

bool isLive(const std::string& key) {
    const auto client = ManagerClient::connect();
    return client && client->job(key);
}

} // namespace

ExitStatus verbWhy(const VerbContext& context) {
    const auto& key = context.line.job;
    if (isLive(key)) {
        if (context.line.json)
            context.terminal.print(jsonNotOver(key));
        else
            context.terminal.print("Job " + key + " is not over yet: `pinfold status " + key + "` shows it.\n");
        return ExitStatus::Ok;
    }
    ReceiptFilter filter;
    filter.key = key;
    filter.limit = 1;
    const auto receipts = findReceipts(filter);
    if (!receipts)
        return fail(receipts.error());
    if (receipts->empty())
        return fail({ErrorCode::NoSuchReceipt,
                     "no receipt of a job '" + printable(key, 300) + "' that you may see: `pinfold history` lists the receipts"});
    const auto& receipt = receipts->front();
    context.terminal.print(context.line.json ? jsonReceipt(receipt)
                                             : receiptPage(receipt, userName, context.amounts, context.terminal.width()));
    return ExitStatus::Ok;
}

} // namespace pinfold
