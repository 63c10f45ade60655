// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the options that say what a job gets. pinfold-run and several verbs of pinfold have these options.
#pragma once

#include "model/allocation.hpp"
#include "model/resource_limits.hpp"
#include "model/wrapper_protocol.hpp"
#include "options/option.hpp"

#include <string>

namespace pinfold {

/// Returns one option for each row of limitTable().
OptionSet limitOptions(ResourceLimits& limits);

/// Returns --cpus and similar options.
OptionSet allocationOptions(AllocationRequest& request);

/// Holds what the options of pinfold-run and `pinfold run` ask for.
struct JobOptions {
    std::string key; ///< if empty, pinfoldd picks a key
    bool inPlace = false;
    WrapperRole role = WrapperRole::Job;
    ResourceLimits limits;
    AllocationRequest allocation;
};

OptionSet jobOptions(JobOptions& options);

} // namespace pinfold
