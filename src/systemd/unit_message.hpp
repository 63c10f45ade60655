// SPDX-License-Identifier: LGPL-2.1-or-later
// Arguments of calls to systemd's manager.
#pragma once

#include "systemd/sdbus_compat.hpp"
#include "systemd/systemd_manager.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// "a(sv)"
void appendProperties(sdbus::MethodCall& call, const std::vector<UnitProperty>& properties);

/// The same of a service, with what it runs.
void appendService(sdbus::MethodCall& call, const ServiceRequest& request);

/// "a(sa(sv))": what else StartTransientUnit is to make. A unit of this name; nothing if it is empty.
void appendAuxiliary(sdbus::MethodCall& call, const std::string& unit, const std::vector<UnitProperty>& properties);

} // namespace pinfold
