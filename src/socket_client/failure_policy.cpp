// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket_client/failure_policy.hpp"

#include "base/escape.hpp"
#include "base/message_ids.hpp"
#include "base/paths.hpp"
#include "base/unique_fd.hpp"
#include "socket_client/say.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

namespace pinfold {
namespace {

bool siteAllowsUnconfined() {
    const UniqueFd file(::open(kFailurePolicyFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != 0 ||
        (status.st_mode & 022) != 0)
        return false;
    std::array<char, 32> text{};
    const auto length = ::read(file.get(), text.data(), text.size());
    return length > 0 && std::string_view(text.data(), static_cast<std::size_t>(length)) == "run-unconfined\n";
}

/// Returns true if the error shows that pinfoldd or systemd has failed. isOutage() returns false for Busy, because Busy does not
/// mean that pinfoldd has failed. pinfoldd answers Busy if the user has too many jobs, or if other jobs use the wanted resources.
bool isOutage(ErrorCode code) {
    return code == ErrorCode::Unreachable || code == ErrorCode::TimedOut || code == ErrorCode::SystemdFailed;
}

/// Sends a datagram of NAME=value lines in the journal's native protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL). No value
/// contains a line break, because each value is a text of pinfold-run itself or a result of printable().
void warnInJournal(const std::string& fields) {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, "/run/systemd/journal/socket", sizeof address.sun_path - 1);
    // The code ignores an error of sendto(2). If there is no journal, the user still sees the line that say() writes to standard
    // error.
    (void)!::sendto(socket.get(), fields.data(), fields.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                    sizeof address);
}

} // namespace

bool siteRunsUnconfined(const Error& failure) { return isOutage(failure.code) && siteAllowsUnconfined(); }

bool mayRunUnconfined(const Error& failure, const std::string& key) {
    if (!siteRunsUnconfined(failure))
        return false;
    say("running without a scope, as this site allows: " + failure.message);
    const auto shownKey = printable(key, 300);
    warnInJournal("MESSAGE=job " + (key.empty() ? "without a key" : shownKey) + " runs unconfined: " + failure.message +
                  "\nPRIORITY=" + std::to_string(LOG_WARNING) + "\nSYSLOG_IDENTIFIER=pinfold-run\nMESSAGE_ID=" +
                  kMessageRunUnconfined + "\nPINFOLD_EVENT=run-unconfined\nPINFOLD_JOB=" + shownKey + "\n");
    return true;
}

} // namespace pinfold
