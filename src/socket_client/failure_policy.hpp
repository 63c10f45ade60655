// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <string>

namespace pinfold {

/// Whether the site lets a job run without a scope after this failure (jobs.on_failure = "run-unconfined", which pinfoldd leaves
/// in /run/pinfold/on-failure). Never if pinfoldd has refused the job.
bool siteRunsUnconfined(const Error& failure);

/// As siteRunsUnconfined(), for a job, with a warning each time that the answer is yes.
bool mayRunUnconfined(const Error& failure, const std::string& key);

} // namespace pinfold
