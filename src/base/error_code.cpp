// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/error_code.hpp"

#include <array>

namespace pinfold {
namespace {

constexpr std::array kTable{
    ErrorRow{ErrorCode::InvalidArgument, "InvalidArgument", ExitStatus::Usage, kPamSystemErr},
    ErrorRow{ErrorCode::LimitInvalid, "LimitInvalid", ExitStatus::Usage, kPamSystemErr},
    ErrorRow{ErrorCode::LimitUnenforceable, "LimitUnenforceable", ExitStatus::Failed, kPamSystemErr},
    ErrorRow{ErrorCode::AlreadyExists, "AlreadyExists", ExitStatus::Failed, kPamSystemErr},
    ErrorRow{ErrorCode::NoSuchJob, "NoSuchJob", ExitStatus::NoSuchJob, kPamPermDenied},
    ErrorRow{ErrorCode::NoSuchReceipt, "NoSuchReceipt", ExitStatus::NoSuchJob, kPamSystemErr},
    ErrorRow{ErrorCode::JobEnding, "JobEnding", ExitStatus::NotRunning, kPamPermDenied},
    ErrorRow{ErrorCode::PidGone, "PidGone", ExitStatus::Failed, kPamSystemErr},
    ErrorRow{ErrorCode::Denied, "Denied", ExitStatus::Denied, kPamPermDenied},
    ErrorRow{ErrorCode::Busy, "Busy", ExitStatus::Failed, kPamAuthinfoUnavail},
    ErrorRow{ErrorCode::Draining, "Draining", ExitStatus::Failed, kPamAuthinfoUnavail},
    ErrorRow{ErrorCode::ConfigInvalid, "ConfigInvalid", ExitStatus::Failed, kPamSystemErr},
    ErrorRow{ErrorCode::SystemdFailed, "SystemdFailed", ExitStatus::Failed, kPamSystemErr},
    ErrorRow{ErrorCode::Unreachable, "Unreachable", ExitStatus::Unreachable, kPamAuthinfoUnavail},
    ErrorRow{ErrorCode::TimedOut, "TimedOut", ExitStatus::TimedOut, kPamAuthinfoUnavail},
    ErrorRow{ErrorCode::Damaged, "Damaged", ExitStatus::Failed, kPamSystemErr},
    ErrorRow{ErrorCode::Internal, "Internal", ExitStatus::Failed, kPamAuthinfoUnavail},
};

constexpr bool inEnumOrder() {
    for (std::size_t i = 0; i < kTable.size(); ++i)
        if (kTable[i].code != static_cast<ErrorCode>(i))
            return false;
    return kTable.size() == static_cast<std::size_t>(ErrorCode::Internal) + 1;
}
static_assert(inEnumOrder(), "errorRow() indexes the table by the enumeration");

} // namespace

const std::string_view kDbusErrorPrefix = "org.pinfold1.Error.";

std::span<const ErrorRow> errorTable() { return kTable; }

const ErrorRow& errorRow(ErrorCode code) { return kTable[static_cast<std::size_t>(code)]; }

std::optional<ErrorCode> errorCodeFromDbusName(std::string_view name) {
    if (!name.starts_with(kDbusErrorPrefix))
        return std::nullopt;
    name.remove_prefix(kDbusErrorPrefix.size());
    for (const auto& row : kTable)
        if (row.dbusName == name)
            return row.code;
    return std::nullopt;
}

} // namespace pinfold
