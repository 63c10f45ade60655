// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/job_id.hpp"

#include <systemd/sd-id128.h>

namespace pinfold {

std::string newJobId(RealTime time) {
    sd_id128_t id{};
    char text[SD_ID128_STRING_MAX] = "";
    // sd_id128_randomize() fails only while the kernel has no random numbers. No job starts before the kernel has random numbers.
    (void)sd_id128_randomize(&id);
    for (int byte = 5; byte >= 0; --byte)
        id.bytes[byte] = static_cast<std::uint8_t>(time.time_since_epoch() / 1ms >> (8 * (5 - byte)));
    return sd_id128_to_string(id, text);
}

} // namespace pinfold
