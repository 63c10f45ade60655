// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes clauses for the sentences about a job of several hosts.
#pragma once

#include "model/hosts_of_job.hpp"
#include "wording/receipt_text.hpp"

#include <string>

namespace pinfold {

/// Returns a text such as "host node7".
std::string nameInWords(const HostOfJob& host);

/// Returns a clause such as "task 3 (simulate) on host node7 exited with status 1".
std::string endInWords(const HostsOfJob& job, const EndEvent& event, NameOfUser nameOf);

/// Returns a text such as "800ms", "up to 2s" or "2s to 5s".
std::string delaysInWords(const Delays& delays);

} // namespace pinfold
