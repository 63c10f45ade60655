// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads PAM's configuration of a service from the files of PAM (pam.d(5)).
#pragma once

#include "doctor/files.hpp"

#include <string>
#include <vector>

namespace pinfold::doctor {

struct PamEntry {
    std::string control; ///< the control field, for example "required" or "[success=1 default=ignore]"
    std::string module;  ///< the file name of the module without its directory, for example "pam_systemd.so"
    std::string where;   ///< the place of the line, for example "/etc/pam.d/common-session:12"
    /// True if the line is in a substack. The module of a line in a substack can end the substack, but not the rest of the stack.
    bool apart = false;
};

/// Returns the PAM modules that PAM calls for a service and a type such as "session". The result has the order in which PAM calls
/// the modules. The result contains the modules of included files and of substacks. If the service does not exist, the result is
/// empty.
std::vector<PamEntry> pamStack(const Files& files, const std::string& service, const std::string& type);

} // namespace pinfold::doctor
