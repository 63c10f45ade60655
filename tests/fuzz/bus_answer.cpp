// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how the command line and other programs read answers of pinfoldd. pinfoldd can be newer or older than the program that
// reads the answer.
#include "bus_values/job_dict.hpp"
#include "bus_values/receipt_dict.hpp"
#include "dictionary.hpp"
#include "model/receipt_json.hpp"

using namespace pinfold;

namespace {

/// If an entry has a wrong type, `decode` throws sdbus::Error. If `decode` throws an exception that is not an sdbus::Error,
/// `decode` has a fault.
template <class Decode> void decodeOne(Decode decode, const Dict& dict) {
    try {
        (void)decode(dict);
    } catch (const sdbus::Error&) {
        return;
    }
}

void printReceipt(const Dict& dict) {
    const auto again = decodeReceipt(encode(receiptFrom(dict)));
    fuzz::require(static_cast<bool>(again), "a receipt from the bus can be written and read as JSON");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto message = fuzz::dictionaryMessage(fuzz::text(data, size));
    if (!message)
        return 0;
    Dict dict;
    *message >> dict;
    decodeOne(jobFrom, dict);
    decodeOne(drainFrom, dict);
    decodeOne(resourcesFrom, dict);
    decodeOne(reconciliationFrom, dict);
    decodeOne(processFrom, dict);
    decodeOne(usageFrom, dict);
    decodeOne(allocationFrom, dict);
    decodeOne(limitsFrom, dict);
    decodeOne([](const Dict& receipt) { return printReceipt(receipt), 0; }, dict);
    return 0;
}
