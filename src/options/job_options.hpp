// SPDX-License-Identifier: LGPL-2.1-or-later
// The options that say what a job gets. pinfold-run and several verbs of pinfold have them in common.
#pragma once

#include "model/allocation.hpp"
#include "model/resource_limits.hpp"
#include "model/wrapper_protocol.hpp"
#include "options/option.hpp"

#include <string>

namespace pinfold {

/// One option for each row of limitTable().
OptionSet limitOptions(ResourceLimits& limits);

/// --cpus and those like it.
OptionSet allocationOptions(AllocationRequest& request);

/// What pinfold-run and `pinfold run` are asked for.
struct JobOptions {
    std::string key; ///< empty: pinfoldd picks one
    bool inPlace = false;
    WrapperRole role = WrapperRole::Job;
    ResourceLimits limits;
    AllocationRequest allocation;
};

OptionSet jobOptions(JobOptions& options);

} // namespace pinfold
