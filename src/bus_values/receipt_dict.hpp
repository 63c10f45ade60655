// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts between dictionaries and receipts with their parts. pinfoldd sends toDict(), and clients read it with the other
// functions. Clients leave out entries and words that a newer pinfoldd adds. Values without an entry stay unset. The functions
// for clients throw sdbus::Error for an entry of another type.
#pragma once

#include "bus_values/dict.hpp"
#include "model/receipt.hpp"

namespace pinfold {

/// On D-Bus this has five values: device, bytes read, bytes written, number of reads, number of writes.
using DeviceIoStruct = sdbus::Struct<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

Dict toDict(const ResourceLimits& limits);
ResourceLimits limitsFrom(const Dict& dict);

/// Makes a dictionary with the entries allocated_cpus, allocated_gpus and exclusive. Receipts have no environment.
Dict toDict(const Allocation& allocation);
/// Reads an allocation. Also takes the environment, which only the object of a live job has.
Allocation allocationFrom(const Dict& dict);

Dict toDict(const Usage& usage);
Usage usageFrom(const Dict& dict);

/// Makes a dictionary with the whole verdict, for those who may read the job's receipt.
Dict toDict(const OomVerdict& verdict);
/// Makes a dictionary with the part of the verdict that everybody may know: cause and time.
Dict oomNews(const OomVerdict& verdict);
std::optional<OomVerdict> oomFrom(const Dict& dict);

Dict toDict(const Receipt& receipt);
Receipt receiptFrom(const Dict& dict);

} // namespace pinfold
