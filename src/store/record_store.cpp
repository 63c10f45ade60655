// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/record_store.hpp"

#include "base/escape.hpp"
#include "os/read_file.hpp"
#include "os/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pinfold {
namespace {

constexpr std::string_view kSuffix = ".json";
// The record of a job is far smaller than kMostBytes, even with jobs.max_tasks tasks. kMostBytes is also enough for records with
// the leftovers that earlier versions stored (10,000 leftovers of 4096 bytes each).
constexpr std::size_t kMostBytes = 256 << 20;

Error failed(const std::filesystem::path& path) { return {ErrorCode::Internal, path.string() + ": " + std::strerror(errno)}; }

} // namespace

Result<void> RecordStore::prepare() const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error)
        return Error{ErrorCode::Internal, directory_.string() + ": " + error.message()};
    if (::chmod(directory_.c_str(), 0700) != 0)
        return failed(directory_);
    return {};
}

Result<void> RecordStore::save(const JobRecord& record) const {
    return replaceFile(directory_ / (record.key.escaped() + std::string(kSuffix)), encode(record), 0600);
}

bool RecordStore::exists(const JobKey& key) const {
    return ::access((directory_ / (key.escaped() + std::string(kSuffix))).c_str(), F_OK) == 0;
}

Result<void> RecordStore::remove(const JobKey& key) const {
    const auto file = directory_ / (key.escaped() + std::string(kSuffix));
    if (::unlink(file.c_str()) != 0 && errno != ENOENT)
        return failed(file);
    return {};
}

Result<RecordStore::Loaded> RecordStore::load() const {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().native().ends_with(kTemporarySuffix))
            // If pinfoldd crashed before save() renamed the temporary file, the temporary file still exists, and the old record
            // is unchanged.
            ::unlink(entry->path().c_str());
    if (error)
        return Error{ErrorCode::Internal, directory_.string() + ": " + error.message()};
    return read();
}

Result<RecordStore::Loaded> RecordStore::read() const {
    Loaded loaded;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
        const auto file = entry->path();
        const auto name = file.filename().string();
        if (name.ends_with(kTemporarySuffix))
            continue;
        const auto unreadable = [&](const std::string& why) {
            loaded.unreadable.push_back(printable(file.string()) + ": " + why);
        };
        const auto text = readFile(AT_FDCWD, file.c_str(), kMostBytes);
        if (!text) {
            if (errno != ENOENT) // ENOENT means that the job has ended since the directory was read
                unreadable(std::strerror(errno));
            continue;
        }
        auto record = decodeJobRecord(*text);
        if (!record)
            unreadable(record.error().message);
        else if (record->key.escaped() + std::string(kSuffix) != name)
            unreadable("the file contains the record of another job, " + record->key.text());
        else
            loaded.records.push_back(std::move(*record));
    }
    if (error == std::errc::permission_denied)
        return Error{ErrorCode::Denied, directory_.string() + ": only root may read the records of jobs; run as root"};
    if (error && error != std::errc::no_such_file_or_directory)
        return Error{ErrorCode::Internal, directory_.string() + ": " + error.message()};
    return loaded;
}

} // namespace pinfold
