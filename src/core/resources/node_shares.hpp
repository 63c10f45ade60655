// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/resources/batch_slice_share.hpp"
#include "model/node_resources.hpp"

namespace pinfold {

/// Says how much of each resource the node has, how much the site keeps for itself, and how much the live jobs hold. A job holds
/// resources according to its allocation, its limits and its slots. A job holds its CPUs and its memory until pinfoldd has
/// removed the job's record.
NodeResources nodeResources(const Core& core, BatchSliceShare& share);

} // namespace pinfold
