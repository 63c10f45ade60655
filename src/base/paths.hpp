// SPDX-License-Identifier: LGPL-2.1-or-later
// base/paths.hpp has the paths of files and directories that several parts of pinfold use.
#pragma once

#include <filesystem>

namespace pinfold {

constexpr const char* kConfigDirectory = "/etc/pinfold";

constexpr const char* kRuntimeDirectory = "/run/pinfold";
constexpr const char* kRecordsDirectory = "/run/pinfold/jobs"; ///< the directory with the records of live jobs
/// pinfoldd keeps in kKeptReceiptsDirectory the receipts that pinfoldd could not write to the history.
constexpr const char* kKeptReceiptsDirectory = "/run/pinfold/receipts";
constexpr const char* kProfilesDirectory = "/run/pinfold/profiles"; ///< the unfinished profiles of live jobs
/// The file kFailurePolicyFile contains the setting jobs.on_failure. A program that creates a job reads the file
/// kFailurePolicyFile if pinfoldd does not answer.
constexpr const char* kFailurePolicyFile = "/run/pinfold/on-failure";
constexpr const char* kWrapperSocket = "/run/pinfold/wrapper.sock";

constexpr const char* kStateDirectory = "/var/lib/pinfold";
constexpr const char* kHistoryFile = "/var/lib/pinfold/history.db";

/// The file kSentFile says which receipts are in the site's archive (see SentPosition). pinfold-ship writes the file kSentFile.
constexpr const char* kSentFile = "/var/lib/pinfold-ship/sent";

/// pinfold-ship writes its metrics into the file kShipMetricsFile. kShipMetricsFile is not in the directory of node_exporter,
/// because pinfold-ship's user is not allowed to write to that directory.
constexpr const char* kShipMetricsFile = "/var/lib/pinfold-ship/pinfold-ship.prom";

/// Returns the path below `root` that corresponds to a path below /.
inline std::filesystem::path inRoot(const std::filesystem::path& root, const std::filesystem::path& path) {
    return root / path.relative_path();
}

} // namespace pinfold
