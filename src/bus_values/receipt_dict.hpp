// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts receipts and their parts to D-Bus dictionaries, and dictionaries to receipts. pinfoldd sends the dictionaries of
// toDict(), and clients read the dictionaries with the functions whose names end in "From". Clients ignore entries and words that
// only a newer pinfoldd sends. If a dictionary has no entry for a value, the value stays unset. If an entry has a wrong type, the
// functions for clients throw sdbus::Error.
#pragma once

#include "bus_values/dict.hpp"
#include "model/receipt.hpp"

namespace pinfold {

/// On D-Bus, the I/O of a device has five values: the device's name, the bytes read and written, and the numbers of reads and
/// writes.
using DeviceIoStruct = sdbus::Struct<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
using Bytes = std::vector<std::uint8_t>;

Dict toDict(const ResourceLimits& limits);
ResourceLimits limitsFrom(const Dict& dict);

/// Makes a dictionary with the entries allocated_cpus, allocated_gpus and exclusive. toDict() leaves out the environment
/// variables, because receipts do not contain environment variables.
Dict toDict(const Allocation& allocation);
/// Reads an allocation. The result has environment variables only if the dictionary comes from the D-Bus object of a live job.
Allocation allocationFrom(const Dict& dict);

/// Makes a dictionary with an entry for each member that is set.
Dict toDict(const JobIdentity& identity);
JobIdentity identityFrom(const Dict& dict);

Dict toDict(const Usage& usage);
Usage usageFrom(const Dict& dict);

/// Makes a dictionary with the whole verdict, for users who are allowed to read the job's receipt.
Dict toDict(const OomVerdict& verdict);
/// Makes a dictionary with the two facts that every user is allowed to know: the cause and the time of the out-of-memory kill.
Dict oomNews(const OomVerdict& verdict);
std::optional<OomVerdict> oomFrom(const Dict& dict);

/// Makes a dictionary of the receipt, but leaves out the receipt's profile (Receipt::profile).
Dict toDict(const Receipt& receipt);
/// Makes a dictionary of the receipt and its profile. If the profile is empty, the dictionary has no entry for the profile.
Dict toDictWithProfile(const Receipt& receipt);
Receipt receiptFrom(const Dict& dict);

} // namespace pinfold
