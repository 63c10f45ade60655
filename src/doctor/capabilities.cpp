// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/capabilities.hpp"

#include "base/parse.hpp"

namespace pinfold::doctor {

bool mayBeKept(const Properties& service, unsigned capability) {
    const auto set = parseUnsigned(property(service, "CapabilityBoundingSet"));
    return !set || (*set >> capability & 1) != 0;
}

} // namespace pinfold::doctor
