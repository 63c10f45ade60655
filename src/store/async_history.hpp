// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives the event loop access to history.db. Background threads (Lane::HistoryWrite and Lane::HistoryRead) read and write
// history.db, and pass the results to the event loop's thread.
#pragma once

#include "base/clock.hpp"
#include "os/background.hpp"
#include "store/history_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pinfold {

class AsyncHistory {
public:
    template <class T> using Reply = std::function<void(Result<T>)>;

    /// AsyncHistory passes `beforeMigration` to History::open(). A thread other than the event loop's thread calls
    /// `beforeMigration`.
    AsyncHistory(Background& background, const std::filesystem::path& file, std::function<void()> beforeMigration = {});
    ~AsyncHistory();

    /// Opens the file if it is not open, and writes the changes. Each call of write() is one transaction. The transactions run in
    /// the order in which write() was called. The answer contains the stored receipts, in the order that History::write()
    /// describes. If the result is the error Internal, write() has written nothing.
    void write(HistoryChanges changes, Reply<std::vector<Receipt>> reply);
    /// Calls History::vacuum() when all earlier calls of write() are done. Errors: Internal; Busy.
    void vacuum(const Retention& retention, RealTime now, std::size_t maxRows, Reply<Vacuumed> reply);
    /// Calls History::tryVacuum() when all earlier calls of write() are done. Errors: Internal; Busy.
    void tryVacuum(const Retention& retention, RealTime now, std::size_t maxRows, Microseconds patience, Reply<Vacuumed> reply);
    /// Calls History::live() after all earlier calls of write() are done. Errors: Internal; Busy.
    void live(Reply<LiveTable> reply);
    /// Calls History::list() without waiting until earlier calls of write() and vacuum() are done. Fails with Busy if too many
    /// queries wait, and with Internal for any other reason.
    void list(ReceiptFilter filter, Reply<std::vector<Receipt>> reply);

    /// Calls History::profile() without waiting until earlier calls of write() and vacuum() are done. Errors: Busy; Internal.
    void profile(const std::string& id, Reply<std::string> reply);

    /// Calls History::unsent() without waiting until earlier calls of write() and vacuum() are done. Errors: Busy; Internal.
    void unsent(const std::filesystem::path& sentFile, Reply<std::uint64_t> reply);

    /// Returns true while a thread migrates the file of an older pinfold to the newest schema.
    bool migrating() const;

    /// AsyncHistory calls onOpened each time a thread has opened the file. If a thread has moved a damaged file aside, the opened
    /// file is new. If somebody has replaced history.db, the opened file can be an older copy.
    std::function<void(std::uint64_t lastManualNumber)> onOpened;
    /// AsyncHistory calls onDamage when a thread has moved a damaged file aside.
    std::function<void(const std::string& words)> onDamage;

private:
    struct Writer;
    struct Readers;
    template <class T> void inTurn(std::function<Result<T>(History&)> use, Reply<T> reply);
    template <class T> void whileWriting(std::function<Result<T>(const History&)> use, Reply<T> reply);
    void tell(const HistoryFile::News& news) const;
    void distrust(ino_t inode, const std::string& why);

    Background& background_;
    std::shared_ptr<Writer> writer_;
    std::shared_ptr<Readers> readers_;
    /// Callbacks reach the AsyncHistory through the pointer `self_`. The AsyncHistory* in `self_` is null when the AsyncHistory
    /// no longer exists.
    std::shared_ptr<AsyncHistory*> self_;
};

} // namespace pinfold
