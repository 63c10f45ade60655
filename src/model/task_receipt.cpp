// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/task_receipt.hpp"

#include "base/enum_names.hpp"

namespace pinfold {
namespace {

constexpr auto kTaskKindNames = enumNames<TaskKind>({
    {TaskKind::Batch, "batch"},
    {TaskKind::Task, "task"},
    {TaskKind::Login, "login"},
});

} // namespace

std::string_view toString(TaskKind kind) { return kTaskKindNames[kind]; }

std::optional<TaskKind> taskKindFromString(std::string_view text) { return kTaskKindNames.find(text); }

} // namespace pinfold
