// SPDX-License-Identifier: LGPL-2.1-or-later
// What pinfoldd answers, as the command line and others read it: a newer or an older pinfoldd may have sent it.
#include "client/decode.hpp"
#include "dictionary.hpp"
#include "model/job_record.hpp"

using namespace pinfold;

namespace {

/// Entries of another type are errors of sdbus-c++, and no other exception is allowed.
template <class Decode> void decodeOne(Decode decode, const bus::Dict& dict) {
    try {
        (void)decode(dict);
    } catch (const sdbus::Error&) {
        return;
    }
}

void printReceipt(const bus::Dict& dict) {
    const auto again = pinfold::decodeReceipt(encode(pinfold::decodeReceipt(dict)));
    fuzz::require(static_cast<bool>(again), "a receipt from the bus can be written and read as JSON");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto message = fuzz::dictionaryMessage(fuzz::text(data, size));
    if (!message)
        return 0;
    bus::Dict dict;
    *message >> dict;
    decodeOne(decodeJob, dict);
    decodeOne(decodeDrainProperties, dict);
    decodeOne(decodeReconciliation, dict);
    decodeOne(decodeProcess, dict);
    decodeOne(decodeUsage, dict);
    decodeOne(decodeAllocation, dict);
    decodeOne([](const bus::Dict& limits) { return decodeLimits(limits); }, dict);
    decodeOne([](const bus::Dict& receipt) { return printReceipt(receipt), 0; }, dict);
    return 0;
}
