// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares all errors of pinfold, and a table with the D-Bus name, the exit status and the PAM code of each error.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace pinfold {

enum class ErrorCode {
    InvalidArgument,
    LimitInvalid,
    LimitUnenforceable,
    AlreadyExists,
    NoSuchJob,
    NoSuchReceipt,
    JobEnding,
    PidGone,
    Denied,
    Busy,
    Draining,
    ConfigInvalid,
    SystemdFailed,
    Unreachable,
    TimedOut,
    Damaged, ///< one of pinfold's own files is damaged; on the bus, pinfoldd replaces Damaged by Internal
    Internal,
};

/// Lists the exit statuses of `pinfold` (reference: pinfold(1)).
enum class ExitStatus : int {
    Ok = 0,
    Failed = 1,
    Usage = 2,
    NotRunning = 3,
    NoSuchJob = 4,
    Denied = 5,
    Unreachable = 6,
    TimedOut = 124,
};

/// If pinfold-run itself fails, the exit status is kRunFailed. env(1) and chroot(1) use the same number.
constexpr int kRunFailed = 125;
constexpr int kRunNotExecutable = 126;
constexpr int kRunNotFound = 127;

/// The following constants are return codes of Linux-PAM. base/error_code.hpp repeats the numbers, because src/base must not need
/// a PAM header. A static_assert in pam_pinfold.cpp compares the following constants with the constants of Linux-PAM.
constexpr int kPamSystemErr = 4;
constexpr int kPamPermDenied = 6;
constexpr int kPamAuthinfoUnavail = 9;

struct ErrorRow {
    ErrorCode code;
    std::string_view dbusName; ///< the part after "org.pinfold1.Error."
    ExitStatus exitStatus;
    int pamCode; ///< the result of PAM's account phase
};

/// Returns the table, with one row for each ErrorCode in the order of the enumeration.
std::span<const ErrorRow> errorTable();

const ErrorRow& errorRow(ErrorCode code);

/// Returns Denied for "org.pinfold1.Error.Denied". Returns nullopt for a name that is not in the table.
std::optional<ErrorCode> errorCodeFromDbusName(std::string_view name);

/// The names of all errors of pinfold on the bus begin with kDbusErrorPrefix, "org.pinfold1.Error.".
extern const std::string_view kDbusErrorPrefix;

} // namespace pinfold
