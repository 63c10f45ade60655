// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts between a Profile and the answer of org.pinfold1.Manager.GetProfile.
#pragma once

#include "bus_values/dict.hpp"
#include "model/profile.hpp"

namespace pinfold {

/// Rounds the numbers of the profile to whole numbers.
Dict toDict(const Profile& profile);
Profile profileFrom(const Dict& dict);

} // namespace pinfold
