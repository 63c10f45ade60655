// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes a receipt in plain words: why the job ended, what the job used compared with what it asked for, and what it left
// behind.
#pragma once

#include "model/receipt.hpp"
#include "wording/amounts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pinfold {

/// Returns the name of a user. The functions of this file do not look up names themselves, because a name service may take its
/// time, and pinfoldd must not wait for it.
using NameOfUser = std::string (*)(std::uint32_t uid);

/// Says in one sentence why the job ended.
std::string causeInWords(const Receipt& receipt, NameOfUser nameOf);

/// Returns the line, without a newline, that the job's own output gets if the job did not end by its own doing. The line is empty
/// if the job ended by itself. The line is also empty for an end that pinfold reports in another way (out of memory), and if
/// nobody can report the end (the supervisor or the node is gone).
std::string stopLine(const Receipt& receipt, const std::string& host, NameOfUser nameOf);

/// Returns a text such as "CPUs 0-3, GPUs 1, no other job on the node", or an empty text if the job had nothing for itself.
std::string allocationInWords(const Allocation& allocation);

/// Returns the page of `pinfold why`, which has at most about 30 lines. The page leaves out a fact that is not known, or says
/// that it is unknown. Sentences are wrapped at `width`. If `width` is 0, the cause is one line, so that people can search for
/// it, and the advice has 80 columns.
std::string receiptPage(const Receipt& receipt, NameOfUser nameOf, const Amounts& amounts, std::size_t width = 0);

} // namespace pinfold
