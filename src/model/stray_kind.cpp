// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/stray_kind.hpp"

#include "base/enum_names.hpp"

namespace pinfold {
namespace {

constexpr auto kStrayKindNames = enumNames<StrayKind>({
    {StrayKind::Session, "session"},
    {StrayKind::UserManager, "user-manager"},
    {StrayKind::Linger, "linger"},
    {StrayKind::Cron, "cron"},
    {StrayKind::At, "at"},
    {StrayKind::Service, "service"},
    {StrayKind::BatchSystem, "batch-system"},
    {StrayKind::Container, "container"},
    {StrayKind::Moved, "moved"},
    {StrayKind::Supervisor, "supervisor"},
    {StrayKind::Orphan, "orphan"},
    {StrayKind::Other, "other"},
});

} // namespace

std::string_view toString(StrayKind kind) { return kStrayKindNames[kind]; }

std::optional<StrayKind> strayKindFromString(std::string_view text) { return kStrayKindNames.find(text); }

std::vector<std::string> strayKindNames() { return kStrayKindNames.all(); }

std::optional<StrayKind> actionableStrayKind(std::string_view text) {
    const auto kind = strayKindFromString(text);
    return kind == StrayKind::Orphan ? std::nullopt : kind;
}

std::vector<std::string> actionableStrayKindNames() {
    auto names = strayKindNames();
    std::erase(names, toString(StrayKind::Orphan));
    return names;
}

} // namespace pinfold
