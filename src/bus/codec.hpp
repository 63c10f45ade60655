// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes the options of those requests that become requests of the core, and encodes what the core answers. src/bus_values has
// all other dictionaries.
#pragma once

#include "base/result.hpp"
#include "bus_values/job_dict.hpp"
#include "bus_values/receipt_dict.hpp"
#include "bus_values/request_dict.hpp"
#include "core/job_manager.hpp"

namespace pinfold {

// All functions return the error InvalidArgument with the name of the wrong entry.

/// Fills supervisor, output, owner, limits and allocation of the request.
Result<void> decodeCreateOptions(const Dict& options, CreateRequest& request);
Result<void> decodeOpenOptions(const Dict& options, CreateRequest& request);
Result<void> decodeTaskOptions(const Dict& options, TaskRequest& request);
Result<EndReport> decodeEndOptions(const Dict& options);
/// Returns the grace time, or nullopt if the options have none.
Result<std::optional<std::uint64_t>> decodeStopOptions(const Dict& options);
/// Returns the value of the option of a method whose only option is a boolean. The default is false.
Result<bool> decodeFlag(const Dict& options, const char* name);
/// Checks the options of a method for which no option exists so far.
Result<void> decodeNoOptions(const Dict& options);

JobInfo infoOf(const JobSummary& job);

sdbus::Error toBusError(const Error& error);

} // namespace pinfold
