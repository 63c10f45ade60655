// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "doctor/host.hpp"

#include <linux/capability.h>

namespace pinfold::doctor {

constexpr unsigned kKill = CAP_KILL;
constexpr unsigned kSysPtrace = CAP_SYS_PTRACE;
constexpr unsigned kSysNice = CAP_SYS_NICE;
constexpr unsigned kSyslog = CAP_SYSLOG;

/// Returns true if the service's CapabilityBoundingSet= contains the capability, or if the value of CapabilityBoundingSet= is not
/// known.
bool mayBeKept(const Properties& service, unsigned capability);

} // namespace pinfold::doctor
