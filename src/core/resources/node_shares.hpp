// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/resources/batch_slice_share.hpp"
#include "model/node_resources.hpp"

namespace pinfold {

/// Returns what the node has, what the site keeps for itself, and what the live jobs hold by their allocations, limits and
/// slots. A job holds its share until pinfoldd has removed its record.
NodeResources nodeResources(const Core& core, BatchSliceShare& share);

} // namespace pinfold
