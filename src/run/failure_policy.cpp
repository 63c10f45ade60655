// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/failure_policy.hpp"

#include "base/message_ids.hpp"
#include "base/unique_fd.hpp"
#include "run/say.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION // the place in our source says nothing to an admin
#include <systemd/sd-journal.h>

#include <array>
#include <string_view>

namespace pinfold {
namespace {

constexpr const char* kPolicyFile = "/run/pinfold/on-failure";

bool siteAllowsUnconfined() {
    const UniqueFd file(::open(kPolicyFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != 0 ||
        (status.st_mode & 022) != 0)
        return false;
    std::array<char, 32> text{};
    const auto length = ::read(file.get(), text.data(), text.size());
    return length > 0 && std::string_view(text.data(), static_cast<std::size_t>(length)) == "run-unconfined\n";
}

bool isOutage(ErrorCode code) {
    return code == ErrorCode::Unreachable || code == ErrorCode::TimedOut || code == ErrorCode::SystemdFailed ||
           code == ErrorCode::Busy;
}

} // namespace

bool mayRunUnconfined(const Error& failure, const std::string& key) {
    if (!isOutage(failure.code) || !siteAllowsUnconfined())
        return false;
    say("running without a scope, as this site allows: " + failure.message);
    sd_journal_send("MESSAGE=job %s runs unconfined: %s", key.empty() ? "without a key" : key.c_str(), failure.message.c_str(),
                    "PRIORITY=%d", LOG_WARNING, "MESSAGE_ID=%s", kMessageRunUnconfined, "PINFOLD_EVENT=run-unconfined",
                    "PINFOLD_JOB=%s", key.c_str(), nullptr);
    return true;
}

} // namespace pinfold
