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
    receipt.leftovers.boundCommands(); // earlier versions of pinfold did not limit the command lines
    takeUsage(json, receipt.usage);
    takeOom(json, receipt.oom);
    takeLimits(json, receipt.limits);
    takeAllocation(json, receipt.allocation);
    takeIdentity(json, receipt.identity);
    return receipt;
}

std::string encode(const Receipt& receipt, Unset unset) {
    Json json;
    forEachReceiptField(receipt, [&json, unset](const char* name, const auto& value) { putMember(json, name, value, unset); });
    putUsage(json, receipt.usage, isOfReceipts, unset);
    putOom(json, receipt.oom, unset);
    putLimits(json, receipt.limits, unset);
    putAllocation(json, receipt.allocation, unset);
    if (unset == Unset::LeftOut)
        putIdentity(json, receipt.identity);
    else
        forEachIdentityField(receipt.identity,
                             [&json, unset](const char* name, const auto& member) { putMember(json, name, member, unset); });
    return dump(json);
}

} // namespace

std::string encode(const Receipt& receipt) { return encode(receipt, Unset::AsNull); }

std::string encodeForStore(const Receipt& receipt) { return encode(receipt, Unset::LeftOut); }

Result<Receipt> decodeReceipt(std::string_view text) { return decode<Receipt>(text, "receipt", receiptFromJson); }

} // namespace pinfold
