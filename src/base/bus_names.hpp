// SPDX-License-Identifier: LGPL-2.1-or-later
// base/bus_names.hpp has the names of pinfoldd and of systemd on the system bus. The names of pinfoldd on the bus never change,
// because sites' programs use these names. The files dbus/*.xml describe the methods, and base/error_code.hpp lists the names of
// the errors.
#pragma once

namespace pinfold {

constexpr const char* kBusName = "org.pinfold1";
/// The object at kManagerPath has the interface org.pinfold1.Manager. The object of a job has the path kManagerPath/job/<label>
/// (JobKey::objectPath()).
constexpr const char* kManagerPath = "/org/pinfold1";
constexpr const char* kManagerInterface = "org.pinfold1.Manager";
constexpr const char* kJobInterface = "org.pinfold1.Job";

constexpr const char* kSystemdName = "org.freedesktop.systemd1";
constexpr const char* kSystemdPath = "/org/freedesktop/systemd1";
constexpr const char* kSystemdInterface = "org.freedesktop.systemd1.Manager";

} // namespace pinfold
