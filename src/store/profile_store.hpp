// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/job_key.hpp"
#include "model/profile_recorder.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace pinfold {

/// Keeps the unfinished profiles of live jobs, so that the profiles survive a restart of pinfoldd. Each profile is a file
/// <directory>/<E>.json with mode 0600. ProfileStore does no fsync, because /run is in memory. The profiles are not in the
/// records of jobs, because an older pinfoldd refuses a record with an unknown member. An older pinfoldd does not look at the
/// files of profiles.
class ProfileStore {
public:
    explicit ProfileStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

    /// Creates the directory (0700) if it does not exist. `id` is the id of the job. Error: Internal.
    Result<void> save(const JobKey& key, const std::string& id, const ProfileRecorder& recorder) const;
    /// Returns what save() has stored. Returns nullopt if the job has no file, or if the file cannot be read or belongs to
    /// another job.
    std::optional<ProfileRecorder> load(const JobKey& key, const std::string& id) const;
    void remove(const JobKey& key) const;

private:
    std::filesystem::path fileOf(const JobKey& key) const { return directory_ / (key.escaped() + ".json"); }

    std::filesystem::path directory_;
};

} // namespace pinfold
