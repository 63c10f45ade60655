// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/receipt_json.hpp"

#include "model/json_parts.hpp"

namespace pinfold {
namespace {

Receipt receiptFromJson(const Json& json) {
    // Every version of pinfold has written these members, so a text is not a receipt if one of them is missing.
    for (const char* name :
         {"id", "key", "uid", "started", "ended", "wall", "result", "tasks", "leftovers", "leftover_cpu", "leftover_commands"})
        (void)json.at(name);
    Receipt receipt;
    forEachReceiptField(receipt, [&json](const char* name, auto& value) { takeMember(json, name, value); });
    receipt.leftovers.boundCommands(); // an earlier pinfold did not limit the commands
    takeUsage(json, receipt.usage);
    takeOom(json, receipt.oom);
    takeLimits(json, receipt.limits);
    takeAllocation(json, receipt.allocation);
    return receipt;
}

} // namespace

std::string encode(const Receipt& receipt) {
    Json json;
    forEachReceiptField(receipt, [&json](const char* name, const auto& value) { putMember(json, name, value); });
    putUsage(json, receipt.usage, isOfReceipts);
    putOom(json, receipt.oom);
    putLimits(json, receipt.limits);
    putAllocation(json, receipt.allocation);
    return dump(json);
}

Result<Receipt> decodeReceipt(std::string_view text) { return decode<Receipt>(text, "receipt", receiptFromJson); }

} // namespace pinfold
