// SPDX-License-Identifier: LGPL-2.1-or-later
// The options of those requests that become requests of the core, and what the core says in return. src/bus_values has all other
// dictionaries.
#pragma once

#include "base/result.hpp"
#include "bus_values/job_dict.hpp"
#include "bus_values/receipt_dict.hpp"
#include "bus_values/request_dict.hpp"
#include "core/job_manager.hpp"

namespace pinfold {

// Error of all: InvalidArgument, with the name of the entry.

/// Fills supervisor, output, owner, limits and allocation.
Result<void> decodeCreateOptions(const Dict& options, CreateRequest& request);
Result<void> decodeOpenOptions(const Dict& options, CreateRequest& request);
Result<void> decodeTaskOptions(const Dict& options, TaskRequest& request);
Result<EndReport> decodeEndOptions(const Dict& options);
/// The grace time, if the options have one.
Result<std::optional<std::uint64_t>> decodeStopOptions(const Dict& options);
/// The option of a method whose one option is a boolean; default false.
Result<bool> decodeFlag(const Dict& options, const char* name);
/// Checks the options of a method that has none so far.
Result<void> decodeNoOptions(const Dict& options);

JobInfo infoOf(const JobSummary& job);

sdbus::Error toBusError(const Error& error);

} // namespace pinfold
