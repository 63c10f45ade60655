// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

namespace pinfold {

/// Stores the job's record before pinfoldd asks systemd for a new unit. If the record did not describe the new unit, a restarted
/// pinfoldd would not know the processes in the unit. If storeBeforeStart() returns an error, pinfoldd must not ask systemd for
/// the unit. Most often, storeBeforeStart() fails because /run is full. If /run is full, systemd cannot store a new unit.
/// storeBeforeStart() returns the error SystemdFailed, as if systemd had failed to store the unit.
Result<void> storeBeforeStart(const Core& core, const Job& job);

} // namespace pinfold
