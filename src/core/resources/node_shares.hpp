// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/resources/batch_slice_share.hpp"
#include "model/node_resources.hpp"

namespace pinfold {

/// Says how much of each resource the node has, how much the site keeps for itself, and how much the live jobs hold. The
/// allocation, the limits and the slots of a job determine how much of each resource the job holds. A job holds its CPUs and its
/// memory until pinfoldd has removed the job's record.
NodeResources nodeResources(const Core& core, BatchSliceShare& share);

} // namespace pinfold
