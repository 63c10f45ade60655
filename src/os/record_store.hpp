// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/job_record.hpp"

#include <filesystem>
#include <vector>

namespace pinfold {

/// The records of live jobs: <directory>/<E>.json, mode 0600. Written by a temporary file and rename, so a reader never sees
/// half. No fsync: /run is memory, and jobs don't outlive it.
class RecordStore {
public:
    explicit RecordStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

    /// Creates the directory (0700). Error: Internal.
    Result<void> prepare() const;
    Result<void> save(const JobRecord& record) const;
    Result<void> remove(const JobKey& key) const;
    /// There is a record of this key, be it readable or not.
    bool exists(const JobKey& key) const;

    struct Loaded {
        std::vector<JobRecord> records;
        std::vector<std::string> unreadable; ///< one line each: file and reason. Not empty: kill nothing.
    };
    /// For who owns the records: temporary files that a crash left are removed first. Errors as of read().
    Result<Loaded> load() const;
    /// Also while they are written; one that goes meanwhile is none. A directory that is not there has none. Errors: Denied;
    /// Internal when the directory can't be read.
    Result<Loaded> read() const;

private:
    std::filesystem::path directory_;
};

} // namespace pinfold
