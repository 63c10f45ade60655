// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes a receipt in plain words. Each text says why the job ended, which resources the job requested and used, or what the
// job left behind.
#pragma once

#include "model/receipt.hpp"
#include "wording/amounts.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace pinfold {

/// Returns the name of a user. The functions of receipt_text.hpp call a NameOfUser to get the name of a user. pinfoldd uses
/// userNumber() as its NameOfUser, because a name service can be slow, and pinfoldd must not wait.
using NameOfUser = std::string (*)(uid_t uid);
/// Returns the user id as text ("root" for 0).
std::string userNumber(uid_t uid);
/// Returns the name of a user, for a text about the receipt. The name of the job's owner comes from the receipt, because pinfoldd
/// must not wait for a name service. To get the name of another user than the owner, nameIn() calls `nameOf`.
std::string nameIn(const Receipt& receipt, uid_t uid, NameOfUser nameOf);

/// Returns a text such as "exited with status 3" or "was ended by SIGSEGV (Segmentation fault)".
std::string exitInWords(const ExitState& exit);

/// Says in one sentence why the job ended.
std::string causeInWords(const Receipt& receipt, NameOfUser nameOf);

/// Returns one line for the job's own output: who or what ended the job. The line has no newline. The line says why, when and on
/// which host the job ended, and how much the job had used. The line is empty if the job ended by itself. After an
/// out-of-memory kill, stopLine() returns an empty line, because oomNotice() returns the line about the kill. The line is empty
/// if the node went down, because no process could write the line to the job's output.
std::string stopLine(const Receipt& receipt, const std::string& host, NameOfUser nameOf);

/// Returns a text such as "CPUs 0-3, GPUs 1, no other job on the node". The text is empty if pinfold allocated no CPUs, no GPUs
/// and no whole node to the job.
std::string allocationInWords(const Allocation& allocation);

/// Returns the page of `pinfold why`. The page has at most about 30 lines. If the job had several tasks, the page contains a
/// table of the tasks. If a fact is unknown, the page does not mention the fact, or says that the fact is unknown. The page wraps
/// sentences at `width` columns. If `width` is 0, the sentence about the cause is one line, so that people can search for the
/// sentence. If `width` is 0, the advice has 80 columns.
std::string receiptPage(const Receipt& receipt, NameOfUser nameOf, const Amounts& amounts, std::size_t width = 0);

} // namespace pinfold
