// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/task_receipt.hpp"

#include "base/enum_names.hpp"

namespace pinfold {
namespace {

constexpr auto kNames = enumNames<TaskKind>({
    {TaskKind::Batch, "batch"},
    {TaskKind::Task, "task"},
    {TaskKind::Login, "login"},
});

} // namespace

std::string_view toString(TaskKind kind) { return kNames[kind]; }

std::optional<TaskKind> taskKindFromString(std::string_view text) { return kNames.find(text); }

} // namespace pinfold
