// SPDX-License-Identifier: LGPL-2.1-or-later
// Seam: structured entries for the journal.
#pragma once

#include "os/message_queue.hpp"

#include <string>
#include <utility>
#include <vector>

namespace pinfold {

struct JournalEvent {
    int priority = 6;      ///< syslog(3): 3 error, 4 warning, 6 information
    std::string messageId; ///< 32 hexadecimal digits, of message_ids.hpp; empty: none
    std::string message;
    std::vector<std::pair<std::string, std::string>> fields; ///< names in upper case; values may hold any bytes
};

class Journal {
public:
    virtual ~Journal() = default;
    virtual void event(const JournalEvent& event) = 0;
};

/// sd_journal_sendv(3), which blocks while journald takes nothing. An entry that the journal doesn't take is lost: there is
/// nowhere else to say it.
class SdJournal : public Journal {
public:
    /// `identifier`: SYSLOG_IDENTIFIER, the program.
    explicit SdJournal(std::string identifier) : identifier_(std::move(identifier)) {}
    void event(const JournalEvent& event) override;

private:
    std::string identifier_;
};

/// The same by the queue's thread: for the loop.
class QueuedJournal : public Journal {
public:
    QueuedJournal(std::string identifier, MessageQueue& queue) : journal_(std::move(identifier)), queue_(queue) {}
    void event(const JournalEvent& event) override;

private:
    SdJournal journal_;
    MessageQueue& queue_;
};

} // namespace pinfold
