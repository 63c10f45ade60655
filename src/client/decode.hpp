// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "client/manager_client.hpp"
#include "systemd/sdbus_compat.hpp"

#include <chrono>

namespace pinfold {

// Decode what pinfoldd sends. Entries that a newer pinfoldd adds are left out; missing entries are unset. The functions throw
// sdbus::Error for an entry of another type.
JobInfo decodeJob(const bus::Dict& dict);
std::optional<Drain> decodeDrainProperties(const bus::Dict& properties);
Reconciliation decodeReconciliation(const bus::Dict& dict);
ProcessEntry decodeProcess(const bus::Dict& dict);
Receipt decodeReceipt(const bus::Dict& dict);
Usage decodeUsage(const bus::Dict& dict);
Allocation decodeAllocation(const bus::Dict& dict);
ResourceLimits decodeLimits(const bus::Dict& dict);
bus::Dict encodeLimits(const ResourceLimits& limits);
bus::Dict encodeAllocation(const AllocationRequest& request);
bus::Dict encodeFilter(const ReceiptFilter& filter);
bus::Dict encodeRetention(const Retention& retention);

/// The error of a client for a bus error. `waited`: how long the client has waited; zero: this is not known.
Error fromBusError(const sdbus::Error& error, std::chrono::steady_clock::duration waited = {});

} // namespace pinfold
