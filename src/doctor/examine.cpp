// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/checks.hpp"

namespace pinfold::doctor {

std::vector<Finding> examine(const Host& host) {
    const Files files(host.root);
    Findings findings;
    for (const auto check :
         {checkDaemon, checkJobs, checkCgroups, checkKernel, checkSystemd, checkBus, checkLogind, checkPam, checkNode,
          checkHistory, checkArchive, checkLoginNode, checkGridEngine, checkSlurm, checkTorque, checkOpenPbs})
        check(host, files, findings);
    return findings.list();
}

} // namespace pinfold::doctor
