// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts between our values and a{sv}. It checks each name that comes in. What goes out has only what is known.
#pragma once

#include "base/result.hpp"
#include "core/job_manager.hpp"
#include "systemd/sdbus_compat.hpp"

namespace pinfold {

using bus::Dict;
/// On D-Bus: device, bytes read, bytes written, number of reads, number of writes.
using DeviceIoStruct = sdbus::Struct<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

/// Fills supervisor, output, owner, limits and allocation. Error: InvalidArgument, with the name of the entry.
Result<void> decodeCreateOptions(const Dict& options, CreateRequest& request);
Result<void> decodeOpenOptions(const Dict& options, CreateRequest& request);
Result<void> decodeTaskOptions(const Dict& options, TaskRequest& request);
Result<EndReport> decodeEndOptions(const Dict& options);
/// The grace time, if the options have one.
Result<std::optional<std::uint64_t>> decodeStopOptions(const Dict& options);
Result<ReceiptFilter> decodeReceiptFilter(const Dict& filter);
/// VacuumHistory's options.
Result<Retention> decodeRetention(const Dict& options);
/// Limits with names and types as in CreateJob.
Result<ResourceLimits> decodeLimits(const Dict& options);
/// The option of a method whose one option is a boolean; default false.
Result<bool> decodeFlag(const Dict& options, const char* name);
/// Checks the options of a method that has none so far.
Result<void> decodeNoOptions(const Dict& options);

Dict encodeLimits(const ResourceLimits& limits);
/// allocated_cpus, allocated_gpus, exclusive.
Dict encodeAllocation(const Allocation& allocation);
Dict encodeUsage(const Usage& usage);
/// The whole verdict. It is for those who may read the job's receipt.
Dict encodeOom(const OomVerdict& verdict);
/// The part of the verdict that everybody may know: cause and time.
Dict encodeOomNews(const OomVerdict& verdict);
Dict encodeSummary(const JobSummary& job);
Dict encodeProcess(const JobProcess& process);
Dict encodeReceipt(const Receipt& receipt);

/// Makes a descriptor from a message our own, closed on exec (which sdbus-c++ does not do).
UniqueFd takeFd(const sdbus::UnixFd& fd);

sdbus::Error toBusError(const Error& error);

} // namespace pinfold
