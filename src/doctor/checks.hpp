// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares one function for each topic of `pinfold doctor`, in the order in which `pinfold doctor` shows the topics. Each
// function checks files of the node and the facts in a Host object. A Host holds answers that the doctor has got from other
// programs. The functions for the topics run no programs and change nothing on the node.
#pragma once

#include "doctor/files.hpp"
#include "doctor/finding.hpp"
#include "doctor/host.hpp"

namespace pinfold::doctor {

void checkCgroups(const Host& host, const Files& files, Findings& findings);
void checkKernel(const Host& host, const Files& files, Findings& findings);
void checkSystemd(const Host& host, const Files& files, Findings& findings);
void checkLogind(const Host& host, const Files& files, Findings& findings);
void checkPam(const Host& host, const Files& files, Findings& findings);
void checkBus(const Host& host, const Files& files, Findings& findings);
void checkDaemon(const Host& host, const Files& files, Findings& findings);
void checkJobs(const Host& host, const Files& files, Findings& findings);
void checkHistory(const Host& host, const Files& files, Findings& findings);
void checkNode(const Host& host, const Files& files, Findings& findings);
void checkArchive(const Host& host, const Files& files, Findings& findings);
void checkLoginNode(const Host& host, const Files& files, Findings& findings);
void checkGridEngine(const Host& host, const Files& files, Findings& findings);
void checkSlurm(const Host& host, const Files& files, Findings& findings);
void checkTorque(const Host& host, const Files& files, Findings& findings);
void checkOpenPbs(const Host& host, const Files& files, Findings& findings);

/// Runs all checks.
std::vector<Finding> examine(const Host& host);

} // namespace pinfold::doctor
