// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_file.hpp"

#include <sys/stat.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pinfold {
namespace {

/// Returns the present time in the form "20250131T120000Z".
std::string timeInName() {
    const auto now = ::time(nullptr);
    tm utc{};
    ::gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    return {text.data(), ::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &utc)};
}

/// Returns a name for a damaged file. nameForDamaged() never returns the name of an earlier damaged file. (pinfoldd can find two
/// damaged files in one second.)
std::filesystem::path nameForDamaged(const std::filesystem::path& file) {
    const auto name = file.string() + ".damaged-" + timeInName();
    auto free = name;
    for (int n = 2; inodeOf(free) != 0 || inodeOf(free + "-wal") != 0; ++n)
        free = name + "." + std::to_string(n);
    return free;
}

} // namespace

ino_t inodeOf(const std::filesystem::path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 ? status.st_ino : 0;
}

HistoryFile::HistoryFile(std::filesystem::path file, std::function<void()> beforeMigration)
    : file_(std::move(file)), beforeMigration_(std::move(beforeMigration)) {}

Result<void> HistoryFile::open() {
    // If somebody has removed or replaced the file, HistoryFile opens the file again. If pinfoldd wrote to a removed file, all
    // changes would be lost without a message.
    if (history_ && inodeOf(file_) == inode_)
        return {};
    history_.reset();
    auto opened = History::open(file_, History::Mode::ReadWrite, beforeMigration_);
    if (!opened)
        return opened.error();
    const auto number = opened->lastManualNumber();
    if (!number)
        return number.error();
    history_ = *std::move(opened);
    inode_ = inodeOf(file_);
    news_.lastManualNumber = *number;
    return {};
}

Result<void> HistoryFile::moveAside(const std::string& why) {
    const auto damaged = nameForDamaged(file_);
    // HistoryFile renames the write-ahead log ("-wal") before sqlite closes the damaged file. When sqlite closes the file, sqlite
    // copies a write-ahead log with the usual name into the file. The write-ahead log of the damaged file must not become the log
    // of the new file.
    for (const char* part : {"-wal", "-shm", ""})
        if (::rename((file_.string() + part).c_str(), (damaged.string() + part).c_str()) != 0 && errno != ENOENT)
            return Error{ErrorCode::Internal, why + "; and the file cannot be moved aside: " + std::strerror(errno)};
    history_.reset();
    news_.damage = why + "; pinfoldd moved the file to " + damaged.string() + "";
    return {};
}

Result<void> HistoryFile::distrust(ino_t inode, const std::string& why) {
    if (inode == 0 || inodeOf(file_) != inode)
        return {}; // after the error, somebody has replaced the damaged file
    if (auto moved = moveAside(why); !moved)
        return moved;
    return open();
}

} // namespace pinfold
