// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes structured entries to the journal. Tests replace this interface.
#pragma once

#include "os/message_queue.hpp"

#include <string>
#include <utility>
#include <vector>

namespace pinfold {

struct JournalEvent {
    int priority = 6;      ///< the level of the entry in syslog(3), such as 3 for an error or 6 for information
    std::string messageId; ///< the id of the message in 32 hexadecimal digits (message_ids.hpp), or an empty text
    std::string message;
    /// Each pair is the name and the value of a field. The name of a field is in upper case, and the value of a field can contain
    /// any bytes.
    std::vector<std::pair<std::string, std::string>> fields;
};

class Journal {
public:
    virtual ~Journal() = default;
    virtual void event(const JournalEvent& event) = 0;
};

/// Writes entries to the journal with sd_journal_sendv(3). sd_journal_sendv(3) blocks while journald reads no messages. If the
/// journal does not accept an entry, the entry is lost, because pinfold stores journal entries nowhere else.
class SdJournal : public Journal {
public:
    /// `identifier` is the entry's SYSLOG_IDENTIFIER, the program's name.
    explicit SdJournal(std::string identifier) : identifier_(std::move(identifier)) {}
    void event(const JournalEvent& event) override;

private:
    std::string identifier_;
};

/// Writes to the journal in the thread of a MessageQueue. SdJournal writes in the thread that calls event(). The event loop is
/// allowed to use a QueuedJournal, because QueuedJournal::event() does not wait for journald.
class QueuedJournal : public Journal {
public:
    QueuedJournal(std::string identifier, MessageQueue& queue) : journal_(std::move(identifier)), queue_(queue) {}
    void event(const JournalEvent& event) override;

private:
    SdJournal journal_;
    MessageQueue& queue_;
};

} // namespace pinfold
