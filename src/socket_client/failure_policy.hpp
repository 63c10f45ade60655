// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <string>

namespace pinfold {

/// Returns true if the site allows a job to run without a scope after the failure (jobs.on_failure = "run-unconfined").
/// pinfoldd writes the setting jobs.on_failure to the file /run/pinfold/on-failure. If pinfoldd has refused the job,
/// siteRunsUnconfined() returns false even if jobs.on_failure is "run-unconfined".
bool siteRunsUnconfined(const Error& failure);

/// Returns the result of siteRunsUnconfined(). If siteRunsUnconfined() returns true, mayRunUnconfined() writes a warning about
/// the job `key`.
bool mayRunUnconfined(const Error& failure, const std::string& key);

} // namespace pinfold
