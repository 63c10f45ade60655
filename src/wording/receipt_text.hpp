// SPDX-License-Identifier: LGPL-2.1-or-later
// A receipt in plain words: why a job ended, what it used compared with what it asked for, what it left behind.
#pragma once

#include "model/receipt.hpp"
#include "wording/amounts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pinfold {

/// Gives the name of a user. These functions do not look names up themselves, because a name service may take its time, for which
/// pinfoldd must not wait.
using NameOfUser = std::string (*)(std::uint32_t uid);

/// Why the job ended, in one sentence.
std::string causeInWords(const Receipt& receipt, NameOfUser nameOf);

/// The line, without a newline, that the job's own output gets if the job did not end by its own doing. Empty for every other
/// end, for ends that are reported in another way (out of memory), and for ends with nobody to report to (the supervisor or the
/// node is gone).
std::string stopLine(const Receipt& receipt, const std::string& host, NameOfUser nameOf);

/// "CPUs 0-3, GPUs 1, no other job on the node"; empty if the job had nothing for itself.
std::string allocationInWords(const Allocation& allocation);

/// The page of `pinfold why`, with at most about 30 lines. What is not known is left out, or said to be unknown. Sentences are
/// wrapped at `width`. 0: the cause is one line, so that it can be searched for, and the advice has 80 columns.
std::string receiptPage(const Receipt& receipt, NameOfUser nameOf, const Amounts& amounts, std::size_t width = 0);

} // namespace pinfold
