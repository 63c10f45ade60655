// SPDX-License-Identifier: LGPL-2.1-or-later
// A receipt in plain words: why a job ended, what it used against what it asked for, what it left behind.
#pragma once

#include "model/receipt.hpp"
#include "text/amounts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pinfold {

/// What to call a user. Not looked up here: a name service may take its time, and pinfoldd has none to give.
using NameOfUser = std::string (*)(std::uint32_t uid);

/// One sentence.
std::string causeInWords(const Receipt& receipt, NameOfUser nameOf);

/// What the job's own output says of an end that was not the job's doing: a line without a newline. Empty for every other end,
/// and for those that are told otherwise (out of memory) or to nobody (the supervisor or the node is gone).
std::string stopLine(const Receipt& receipt, const std::string& host, NameOfUser nameOf);

/// "CPUs 0-3, GPUs 1, no other job on the node"; empty for a job that had nothing for itself.
std::string allocationInWords(const Allocation& allocation);

/// The page of `pinfold why`: some 30 lines at most. What is not known is left out, or said to be unknown. Sentences are wrapped
/// at `width`; 0: the cause is one line, for who searches for it, and the advice has 80 columns.
std::string receiptPage(const Receipt& receipt, NameOfUser nameOf, const Amounts& amounts, std::size_t width = 0);

} // namespace pinfold
