// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/journal_reader.hpp"

#include <fcntl.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace pinfold {
namespace {

// The message id SD_MESSAGE_COREDUMP of systemd-coredump.
constexpr const char* kCoredump = "MESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1";

Error failed(int status) { return {ErrorCode::Internal, std::string("the journal cannot be read: ") + std::strerror(-status)}; }

Result<void> resultOf(int status) {
    if (status < 0)
        return failed(status);
    return {};
}

int addMatches(sd_journal* journal, const JournalMatches& matches) {
    int status = 0;
    for (const auto& alternative : matches) {
        for (const auto& condition : alternative)
            if (status = sd_journal_add_match(journal, condition.data(), condition.size()); status < 0)
                return status;
        if (status = sd_journal_add_disjunction(journal); status < 0)
            return status;
    }
    return status;
}

/// A damaged journal file can contain entries that cannot be read.
bool isUnreadableEntry(int status) { return status == -EBADMSG || status == -EADDRNOTAVAIL; }

} // namespace

std::string_view JournalEntry::field(std::string_view name) const {
    for (const auto& [known, value] : fields)
        if (known == name)
            return value;
    return {};
}

JournalMatches matchesOfUnit(const std::string& unit) {
    return {{"_SYSTEMD_UNIT=" + unit},
            {kCoredump, "_UID=0", "COREDUMP_UNIT=" + unit},
            {"_PID=1", "UNIT=" + unit},
            {"_UID=0", "OBJECT_SYSTEMD_UNIT=" + unit}};
}

void JournalReader::Close::operator()(sd_journal* journal) const { sd_journal_close(journal); }

Result<JournalReader> JournalReader::open(const JournalMatches& matches) {
    sd_journal* journal = nullptr;
    if (const int status = sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY); status < 0)
        return failed(status);
    JournalReader reader(journal);
    if (const int status = addMatches(journal, matches); status < 0)
        return failed(status);
    return reader;
}

Result<void> JournalReader::goToOldest() { return resultOf(sd_journal_seek_head(journal_.get())); }

Result<void> JournalReader::goToNewest(std::uint64_t count) {
    if (const int status = sd_journal_seek_tail(journal_.get()); status < 0)
        return failed(status);
    // next() moves forward by one entry and then reads that entry, so goToNewest() goes back by `count` + 1 entries.
    const int skipped = sd_journal_previous_skip(journal_.get(), count + 1);
    if (skipped < 0)
        return failed(skipped);
    return static_cast<std::uint64_t>(skipped) <= count ? goToOldest() : Result<void>();
}

Result<std::optional<JournalEntry>> JournalReader::next() {
    while (true) {
        const int status = sd_journal_next(journal_.get());
        if (status < 0)
            return failed(status);
        if (status == 0)
            return std::optional<JournalEntry>();
        if (auto read = entry(); !read || *read)
            return read;
    }
}

Result<std::optional<JournalEntry>> JournalReader::entry() {
    auto* const journal = journal_.get();
    JournalEntry entry;
    sd_id128_t boot{};
    char* cursor = nullptr;
    std::uint64_t realTime = 0;
    std::uint64_t monotonic = 0;
    int status = sd_journal_get_realtime_usec(journal, &realTime);
    if (status >= 0)
        status = sd_journal_get_monotonic_usec(journal, &monotonic, &boot);
    if (status >= 0)
        status = sd_journal_get_cursor(journal, &cursor);
    if (isUnreadableEntry(status))
        return std::optional<JournalEntry>();
    if (status < 0)
        return failed(status);
    entry.realTime = fromUsec<RealTime>(realTime);
    entry.monotonic = fromUsec<MonotonicTime>(monotonic);
    entry.cursor = cursor;
    std::free(cursor); // NOLINT(cppcoreguidelines-no-malloc): sd_journal_get_cursor() allocates the text with malloc(3)
    const void* data = nullptr;
    std::size_t size = 0;
    sd_journal_restart_data(journal);
    while (sd_journal_enumerate_available_data(journal, &data, &size) > 0) {
        const std::string_view field(static_cast<const char*>(data), size);
        const auto end = field.find('=');
        if (end != std::string_view::npos)
            entry.fields.emplace_back(field.substr(0, end), field.substr(end + 1));
    }
    return std::optional(std::move(entry));
}

Result<void> JournalReader::wait() { return resultOf(sd_journal_wait(journal_.get(), UINT64_MAX)); }

bool mayReadWholeJournal() {
    sd_id128_t machine{};
    if (sd_id128_get_machine(&machine) < 0)
        return true;
    std::array<char, SD_ID128_STRING_MAX> id{};
    sd_id128_to_string(machine, id.data());
    for (const char* directory : {"/run/log/journal/", "/var/log/journal/"}) {
        const auto file = directory + std::string(id.data()) + "/system.journal";
        if (::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES)
            return false;
    }
    return true;
}

} // namespace pinfold
