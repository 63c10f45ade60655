// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/host.hpp"

namespace pinfold::doctor {

std::string property(const Properties& properties, const std::string& name) {
    const auto found = properties.find(name);
    return found == properties.end() ? std::string() : found->second;
}

const Properties& Host::unit(const std::string& name) const {
    static const Properties none;
    const auto found = units.find(name);
    return found == units.end() ? none : found->second;
}

} // namespace pinfold::doctor
