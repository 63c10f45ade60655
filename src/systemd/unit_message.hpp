// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the arguments of a call into the message that pinfoldd sends to systemd's manager.
#pragma once

#include "systemd/sdbus_compat.hpp"
#include "systemd/systemd_manager.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Writes properties as "a(sv)".
void appendProperties(sdbus::MethodCall& call, const std::vector<UnitProperty>& properties);

/// Writes the properties of a service as "a(sv)". The property ExecStartEx contains the command that the service runs.
void appendService(sdbus::MethodCall& call, const ServiceRequest& request);

/// Writes the list of auxiliary units for StartTransientUnit as "a(sa(sv))". The list has `unit` as its only entry, or is empty
/// if `unit` is empty.
void appendAuxiliary(sdbus::MethodCall& call, const std::string& unit, const std::vector<UnitProperty>& properties);

} // namespace pinfold
