// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the files that `pinfold doctor` and `pinfold strays` write for node_exporter. The setting metrics.textfile names the file
// that pinfoldd writes for node_exporter. `pinfold doctor` and `pinfold strays` write their files into the same directory as
// pinfoldd. pinfoldd(8) lists the metrics. Other programs rely on the names of the metrics, so the names never change.
#pragma once

#include "base/result.hpp"
#include "cli/stray_rows.hpp"
#include "doctor/finding.hpp"
#include "options/option.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

constexpr std::string_view kDoctorTextfile = "pinfold-doctor.prom";
constexpr std::string_view kStraysTextfile = "pinfold-strays.prom";

/// Returns figures in Prometheus' text format. Each series counts the findings with the same check and the same state.
std::string findingMetrics(const std::vector<doctor::Finding>& findings);

/// Returns figures in Prometheus' text format. Each kind of strays has a series, even if there are no strays of this kind.
std::string strayMetrics(const std::vector<StrayRow>& strays);

/// Writes the text to the file `name` in the directory of metrics.textfile. Does nothing if metrics.textfile is unset.
/// writeTextfile() can return every error that loadConfig() can return. The error is Internal if writeTextfile() cannot write the
/// file.
Result<void> writeTextfile(std::string_view name, const std::string& text);

} // namespace pinfold
