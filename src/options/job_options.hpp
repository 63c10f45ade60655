// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the options for the limits and the allocation of a job. pinfold-run and several commands of pinfold use the options
// for limits and allocations.
#pragma once

#include "model/allocation.hpp"
#include "model/job_identity.hpp"
#include "model/resource_limits.hpp"
#include "model/wrapper_protocol.hpp"
#include "options/option.hpp"

#include <string>

namespace pinfold {

/// Returns one option for each row of limitTable().
OptionSet limitOptions(ResourceLimits& limits);

/// Returns the options for the allocation of CPUs and GPUs, such as --cpus.
OptionSet allocationOptions(AllocationRequest& request);

/// Returns the option --label NAME=VALUE.
Option labelOption(Labels& labels);

/// Returns the options with which the batch system describes the job, such as --label and --account.
OptionSet identityOptions(JobIdentity& identity);

/// Holds the values of the options of pinfold-run and `pinfold run`.
struct JobOptions {
    std::string key; ///< the key of the job; if empty, pinfoldd chooses a key
    bool inPlace = false;
    WrapperRole role = WrapperRole::Job;
    ResourceLimits limits;
    AllocationRequest allocation;
    Labels labels;
};

OptionSet jobOptions(JobOptions& options);

} // namespace pinfold
