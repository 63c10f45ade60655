// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfold reads receipts from the history, and how it makes the pages that show receipts to people.
#include "fuzz.hpp"
#include "model/receipt_json.hpp"
#include "wording/receipt_text.hpp"

using namespace pinfold;

namespace {

std::string numberOf(std::uint32_t uid) { return std::to_string(uid); }

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto receipt = decodeReceipt(fuzz::text(data, size));
    if (!receipt) {
        fuzz::requireOneLine(receipt.error());
        return 0;
    }
    const auto encoded = encode(*receipt);
    const auto again = decodeReceipt(encoded);
    fuzz::require(again && encode(*again) == encoded, "a receipt that is encoded again is the same receipt");
    for (const std::size_t width : {0U, 20U, 80U})
        fuzz::require(!receiptPage(*receipt, numberOf, Amounts{}, width).empty(), "every receipt has a page");
    (void)stopLine(*receipt, "node1", numberOf);
    (void)outcomeOf(*receipt);
    (void)amend(*receipt, {.status = 3, .signal = {}});
    return 0;
}
