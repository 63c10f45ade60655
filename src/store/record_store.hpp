// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/job_record.hpp"

#include <filesystem>
#include <vector>

namespace pinfold {

/// The records of live jobs: <directory>/<E>.json, mode 0600. A record is written to a temporary file and renamed, so a reader
/// never sees half of it. There is no fsync, because /run is in memory, and jobs do not outlive it.
class RecordStore {
public:
    explicit RecordStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

    /// Creates the directory (0700). Error: Internal.
    Result<void> prepare() const;
    Result<void> save(const JobRecord& record) const;
    Result<void> remove(const JobKey& key) const;
    /// True: this key has a record, readable or not.
    bool exists(const JobKey& key) const;

    struct Loaded {
        std::vector<JobRecord> records;
        std::vector<std::string> unreadable; ///< one line each: file and reason. If there is one, kill nothing.
    };
    /// Reads all records, for pinfoldd, which owns them: first removes temporary files that a crash left. Errors: as read().
    Result<Loaded> load() const;
    /// Reads all records, also while pinfoldd writes them. A record that is removed meanwhile does not count. A directory that
    /// does not exist has none. Errors: Denied; Internal when the directory cannot be read.
    Result<Loaded> read() const;

private:
    std::filesystem::path directory_;
};

} // namespace pinfold
