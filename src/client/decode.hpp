// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "client/manager_client.hpp"
#include "systemd/sdbus_compat.hpp"

#include <chrono>

namespace pinfold {

// What a newer pinfoldd adds is left out; what is missing is unset. Throw sdbus::Error for an entry of another type.
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

/// What a bus error means to a client, who has waited this long; zero: it is not known.
Error fromBusError(const sdbus::Error& error, std::chrono::steady_clock::duration waited = {});

} // namespace pinfold
