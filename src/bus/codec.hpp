// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes the options of the D-Bus calls that pinfoldd passes on to its core, and encodes the core's answers. src/bus_values
// converts the D-Bus dictionaries that bus/codec.hpp does not convert.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "bus_values/job_dict.hpp"
#include "bus_values/receipt_dict.hpp"
#include "bus_values/request_dict.hpp"
#include "core/job_manager.hpp"

namespace pinfold {

// If an entry of the options is wrong, each function of bus/codec.hpp returns InvalidArgument, and the error names the entry.

/// Reads the following options of CreateJob, and stores them in the request: supervisor, output, owner, limits and allocation.
Result<void> decodeCreateOptions(const Dict& options, CreateRequest& request);
Result<void> decodeOpenOptions(const Dict& options, CreateRequest& request);
Result<void> decodeTaskOptions(const Dict& options, TaskRequest& request);
Result<EndReport> decodeEndOptions(const Dict& options);
/// Returns the grace time, or nullopt if the options have no grace time.
Result<std::optional<Microseconds>> decodeStopOptions(const Dict& options);
/// Returns the value of the boolean option `name`. Call decodeFlag() for a D-Bus method that has no option except `name`. If
/// `options` lacks the option, the value is false.
Result<bool> decodeFlag(const Dict& options, const char* name);
/// Refuses every option. A client has passed `options` to a method that has no options yet.
Result<void> decodeNoOptions(const Dict& options);

JobInfo infoOf(const JobSummary& job);

sdbus::Error toBusError(const Error& error);

} // namespace pinfold
