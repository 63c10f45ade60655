// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/job_record.hpp"

#include <filesystem>
#include <vector>

namespace pinfold {

/// Keeps the records of live jobs as <directory>/<E>.json, mode 0600. RecordStore writes a record to a temporary file and renames
/// that file, so a reader never sees half a record. RecordStore does no fsync, because /run is in memory. When the node goes
/// down, the jobs end, and the files in /run disappear.
class RecordStore {
public:
    explicit RecordStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

    /// Creates the directory (0700). Error: Internal.
    Result<void> prepare() const;
    Result<void> save(const JobRecord& record) const;
    Result<void> remove(const JobKey& key) const;
    /// Returns true if the job with the key has a record, even if the record cannot be read.
    bool exists(const JobKey& key) const;

    struct Loaded {
        std::vector<JobRecord> records;
        /// Each line names a record that cannot be read, and says why. If a record cannot be read, the caller must kill nothing.
        std::vector<std::string> unreadable;
    };
    /// Reads all records. Only pinfoldd may call load(), because pinfoldd writes the records. load() first removes the temporary
    /// files that a crash has left. The function load() fails with the errors of read().
    Result<Loaded> load() const;
    /// Reads all records, even while pinfoldd writes records. If pinfoldd removes a record during read(), the result does not
    /// contain the record. If the directory does not exist, the result has no records. The error is Denied if this process lacks
    /// the right to read the directory, and Internal otherwise.
    Result<Loaded> read() const;

private:
    std::filesystem::path directory_;
};

} // namespace pinfold
