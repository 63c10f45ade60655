// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the function that reads the records of live jobs.
#include "model/job_record.hpp"
#include "fuzz.hpp"

using namespace pinfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto record = decodeJobRecord(fuzz::text(data, size));
    if (!record) {
        fuzz::requireOneLine(record.error());
        return 0;
    }
    const auto encoded = encode(*record);
    const auto again = decodeJobRecord(encoded);
    fuzz::require(again && encode(*again) == encoded, "a record that is encoded again is the same record");
    return 0;
}
