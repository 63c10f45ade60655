// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "bus_client/events_watch.hpp"

#include <cstdint>
#include <string>

namespace pinfold {

/// Returns a line such as "2026-11-20T13:00:00+01:00 job-removed sge.4711 result=exited".
std::string eventLine(const Event& event, RealTime time);

/// Returns the event as a JSON document on a single line.
std::string jsonEvent(const Event& event, RealTime time);

} // namespace pinfold
