// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes in plain words how a job of several hosts ended.
#pragma once

#include "model/hosts_of_job.hpp"
#include "wording/amounts.hpp"
#include "wording/receipt_text.hpp"

#include <cstddef>
#include <string>

namespace pinfold {

/// Says why the whole job ended, and how much later the job ended on the other hosts.
std::string causeInWords(const HostsOfJob& job, NameOfUser nameOf);

/// Returns the page of `pinfold why` for a job of several hosts. Even for many hosts, the page has at most about 40 lines. Each
/// line names at most five hosts. The comment on receiptPage() explains `width`.
std::string hostsPage(const HostsOfJob& job, NameOfUser nameOf, const Amounts& amounts, std::size_t width = 0);

/// Rounds a delay: the time between the job's end on the first host and its end on another host. The clocks of the hosts are not
/// exact. roundedDelay() rounds a time below 10 s to tenths of a second, and a longer time to whole seconds.
Microseconds roundedDelay(Microseconds delay);

} // namespace pinfold
