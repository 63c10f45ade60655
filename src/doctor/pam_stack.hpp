// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads what PAM does for a service from PAM's files (pam.d(5)).
#pragma once

#include "doctor/files.hpp"

#include <string>
#include <vector>

namespace pinfold::doctor {

struct PamEntry {
    std::string control; ///< "required", "[success=1 default=ignore]"
    std::string module;  ///< "pam_systemd.so", without directory
    std::string where;   ///< "/etc/pam.d/common-session:12"
    bool apart = false;  ///< in a substack: what it decides ends with the substack
};

/// The modules of a service for a type ("session"), in their order. It follows @include, include and substack. Empty if there is
/// no such service.
std::vector<PamEntry> pamStack(const Files& files, const std::string& service, const std::string& type);

} // namespace pinfold::doctor
