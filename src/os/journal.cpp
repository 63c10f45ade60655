// SPDX-License-Identifier: LGPL-2.1-or-later
#define SD_JOURNAL_SUPPRESS_LOCATION // omits the fields CODE_FILE= and CODE_LINE=, which admins do not need
#include "os/journal.hpp"

#include <sys/uio.h>
#include <systemd/sd-journal.h>

namespace pinfold {

void SdJournal::event(const JournalEvent& event) {
    std::vector<std::string> lines{"MESSAGE=" + event.message, "PRIORITY=" + std::to_string(event.priority),
                                   "SYSLOG_IDENTIFIER=" + identifier_};
    if (!event.messageId.empty())
        lines.push_back("MESSAGE_ID=" + event.messageId);
    for (const auto& [name, value] : event.fields)
        lines.push_back(std::string(name).append("=").append(value));
    std::vector<iovec> vectors;
    vectors.reserve(lines.size());
    for (auto& line : lines)
        vectors.push_back({line.data(), line.size()});
    (void)sd_journal_sendv(vectors.data(), static_cast<int>(vectors.size()));
}

void QueuedJournal::event(const JournalEvent& event) {
    auto bytes = event.message.size();
    for (const auto& [name, value] : event.fields)
        bytes += name.size() + value.size();
    queue_.add(bytes, [journal = journal_, event]() mutable { journal.event(event); });
}

} // namespace pinfold
