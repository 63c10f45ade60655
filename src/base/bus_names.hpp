// SPDX-License-Identifier: LGPL-2.1-or-later
// The names of pinfoldd on the system bus. They are frozen, because programs of sites use them. The methods are in dbus/*.xml,
// and the names of errors in base/error_code.hpp.
#pragma once

namespace pinfold {

constexpr const char* kBusName = "org.pinfold1";
/// The object of the interface org.pinfold1.Manager. A job's object is kManagerPath/job/<label> (JobKey::objectPath()).
constexpr const char* kManagerPath = "/org/pinfold1";
constexpr const char* kManagerInterface = "org.pinfold1.Manager";
constexpr const char* kJobInterface = "org.pinfold1.Job";

} // namespace pinfold
