// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the closed list of errors, and the one table with the D-Bus name, exit status and PAM code of each error.
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
    Damaged, ///< one of pinfold's own files is damaged; callers of pinfoldd get Internal
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

/// This is the exit status of `pinfold-run` for its own failures, as with env(1) and chroot(1).
constexpr int kRunFailed = 125;
constexpr int kRunNotExecutable = 126;
constexpr int kRunNotFound = 127;

/// These are Linux-PAM's numbers, written here so that this folder needs no PAM header. pam_pinfold.cpp asserts that the numbers
/// are right.
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

/// Is "org.pinfold1.Error.".
extern const std::string_view kDbusErrorPrefix;

} // namespace pinfold
