// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/user_terminal.hpp"

#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pinfold {
namespace {

// Documentation/admin-guide/devices.txt lists the device numbers of terminals.
/// The major device number of virtual consoles and of serial lines. The minor device numbers of serial lines begin at
/// kFirstSerial.
constexpr unsigned kTtyMajor = 4;
constexpr unsigned kFirstSerial = 64;
constexpr unsigned kFirstPtsMajor = 136;
constexpr unsigned kLastPtsMajor = 143;
constexpr unsigned kPtsOfMajor = 256;

} // namespace

std::string terminalName(std::uint32_t device) {
    const auto major = gnu_dev_major(device);
    const auto minor = gnu_dev_minor(device);
    if (major >= kFirstPtsMajor && major <= kLastPtsMajor)
        return "pts/" + std::to_string(minor + (major - kFirstPtsMajor) * kPtsOfMajor);
    if (major != kTtyMajor)
        return "";
    return minor < kFirstSerial ? "tty" + std::to_string(minor) : "ttyS" + std::to_string(minor - kFirstSerial);
}

Result<void> writeToTerminal(std::uint32_t device, uid_t owner, const std::string& text) {
    const auto name = "/dev/" + terminalName(device);
    const UniqueFd terminal(::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!terminal || ::fstat(terminal.get(), &status) != 0)
        return Error{ErrorCode::Internal, name + ": " + std::strerror(errno)};
    if (!S_ISCHR(status.st_mode) || status.st_rdev != device || status.st_uid != owner)
        return Error{ErrorCode::Internal, name + " is not a terminal of user " + std::to_string(owner)};
    if (::write(terminal.get(), text.data(), text.size()) < 0)
        return Error{ErrorCode::Internal, name + ": " + std::strerror(errno)};
    return {};
}

} // namespace pinfold
