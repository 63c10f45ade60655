// SPDX-License-Identifier: LGPL-2.1-or-later
// Receipts and their parts as dictionaries: what pinfoldd sends (toDict), and what clients make of it. Clients leave out entries
// and words that a newer pinfoldd adds; values without an entry stay unset. The functions for clients throw sdbus::Error for an
// entry of another type.
#pragma once

#include "bus_values/dict.hpp"
#include "model/receipt.hpp"

namespace pinfold {

/// On D-Bus: device, bytes read, bytes written, number of reads, number of writes.
using DeviceIoStruct = sdbus::Struct<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

Dict toDict(const ResourceLimits& limits);
ResourceLimits limitsFrom(const Dict& dict);

/// allocated_cpus, allocated_gpus, exclusive. Receipts have no environment.
Dict toDict(const Allocation& allocation);
/// Also takes the environment, which the object of a live job has.
Allocation allocationFrom(const Dict& dict);

Dict toDict(const Usage& usage);
Usage usageFrom(const Dict& dict);

/// The whole verdict. It is for those who may read the job's receipt.
Dict toDict(const OomVerdict& verdict);
/// The part of the verdict that everybody may know: cause and time.
Dict oomNews(const OomVerdict& verdict);
std::optional<OomVerdict> oomFrom(const Dict& dict);

Dict toDict(const Receipt& receipt);
Receipt receiptFrom(const Dict& dict);

} // namespace pinfold
