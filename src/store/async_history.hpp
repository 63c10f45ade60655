// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives the loop access to history.db. The threads of the history's lanes do the requests, and the loop gets the answers.
#pragma once

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

    /// `beforeMigration` is passed to History::open(), and a thread calls it.
    AsyncHistory(Background& background, const std::filesystem::path& file, std::function<void()> beforeMigration = {});
    ~AsyncHistory();

    /// Opens the file if it is not open, and writes the changes. Each call is a transaction of its own. The transactions are in
    /// the order of the calls. The answer has those of the receipts that were stored already. After the error Internal nothing
    /// was written.
    void write(HistoryChanges changes, Reply<std::vector<Receipt>> reply);
    /// Does what History::vacuum() does, after the earlier calls of write(). Errors: Internal; Busy.
    void vacuum(const Retention& retention, std::uint64_t now, std::size_t maxRows, Reply<Vacuumed> reply);
    /// Does what History::live() does, after the earlier calls of write(). Errors: Internal; Busy.
    void live(Reply<LiveTable> reply);
    /// Does what History::list() does, without waiting for write() and vacuum(). Errors: Internal; Busy if too many queries wait.
    void list(ReceiptFilter filter, Reply<std::vector<Receipt>> reply);

    /// Returns true while a thread brings the file of an older pinfold to the newest schema.
    bool migrating() const;

    std::function<void(std::uint64_t lastManualNumber)> onOpened;
    std::function<void(const std::string& words)> onDamage; ///< AsyncHistory calls it when a thread has moved a damaged file
                                                            ///< aside

private:
    struct Writer;
    struct Readers;
    template <class T> void inTurn(std::function<Result<T>(History&)> use, Reply<T> reply);
    void tell(const HistoryFile::News& news) const;
    void distrust(ino_t inode, const std::string& why);

    Background& background_;
    std::shared_ptr<Writer> writer_;
    std::shared_ptr<Readers> readers_;
    std::shared_ptr<AsyncHistory*> self_; ///< for completions; null when this object has gone
};

} // namespace pinfold
