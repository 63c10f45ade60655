// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/receipt_json.hpp"

#include "model/json_parts.hpp"

namespace pinfold {
namespace {

/// Converts the tasks to JSON. If the batch script is the job's only task, the receipt already contains most members of the task.
/// If the batch script is the only task, the history stores only the members that onlyTask() cannot take from the receipt. If the
/// JSON of a task has no number, takeTasks() calls onlyTask().
Json tasksToJson(const Receipt& receipt, Unset unset) {
    auto list = Json::array();
    for (const auto& task : receipt.taskList) {
        auto only = onlyTask(receipt, task.command);
        only.started = task.started;
        if (unset == Unset::AsNull || receipt.taskList.size() > 1 || task != only) {
            list.push_back(taskToJson(task, unset));
            continue;
        }
        auto json = Json::object();
        if (!task.command.empty())
            put(json, "command", task.command);
        if (task.started != receipt.started)
            put(json, "started", task.started);
        list.push_back(std::move(json));
    }
    return list;
}

/// Reads the tasks from JSON. takeTasks() passes `receipt` to onlyTask(), so the caller must read the other members of the
/// receipt before the tasks.
void takeTasks(const Json& json, Receipt& receipt) {
    const auto list = json.find("task_list"); // a text from an earlier pinfold does not contain the tasks
    if (list == json.end())
        return;
    for (const auto& entry : *list) {
        auto& task = receipt.taskList.emplace_back();
        if (!entry.contains("number")) {
            task = onlyTask(receipt, {});
            takeMember(entry, "command", task.command);
            takeMember(entry, "started", task.started);
            continue;
        }
        takeTask(entry, task);
    }
}

Receipt receiptFromJson(const Json& json) {
    // Every version of pinfold has written the members from `id` to `leftover_commands`. If one of the members from `id` to
    // `leftover_commands` is missing, the text is not a receipt.
    for (const char* name :
         {"id", "key", "uid", "started", "ended", "wall", "result", "tasks", "leftovers", "leftover_cpu", "leftover_commands"})
        (void)json.at(name);
    Receipt receipt;
    forEachReceiptField(receipt, [&json](const char* name, auto& value) { takeMember(json, name, value); });
    receipt.leftovers.boundCommands(); // earlier versions of pinfold did not limit the length of command lines
    takeUsage(json, receipt.usage);
    takeOom(json, receipt.oom);
    takeStoredLimits(json, receipt.limits);
    takeAllocation(json, receipt.allocation);
    takeIdentity(json, receipt.identity);
    takeTasks(json, receipt);
    return receipt;
}

std::string encode(const Receipt& receipt, Unset unset) {
    Json json;
    forEachReceiptField(receipt, [&json, unset](const char* name, const auto& value) { putMember(json, name, value, unset); });
    putUsage(json, receipt.usage, isOfReceipts, unset);
    putOom(json, receipt.oom, unset);
    putLimits(json, receipt.limits, unset);
    putAllocation(json, receipt.allocation, unset);
    if (unset == Unset::LeftOut)
        putIdentity(json, receipt.identity);
    else
        forEachIdentityField(receipt.identity,
                             [&json, unset](const char* name, const auto& member) { putMember(json, name, member, unset); });
    if (unset == Unset::AsNull || !receipt.taskList.empty())
        put(json, "task_list", tasksToJson(receipt, unset));
    return dump(json);
}

} // namespace

std::string encode(const Receipt& receipt) { return encode(receipt, Unset::AsNull); }

std::string encodeForStore(const Receipt& receipt) { return encode(receipt, Unset::LeftOut); }

Result<Receipt> decodeReceipt(std::string_view text) { return decode<Receipt>(text, "receipt", receiptFromJson); }

} // namespace pinfold
