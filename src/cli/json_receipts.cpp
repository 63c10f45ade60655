// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the JSON documents about jobs that are over.
#include "base/parse.hpp"
#include "cli/json.hpp"
#include "cli/json_document.hpp"
#include "model/receipt_json.hpp"
#include "wording/efficiency.hpp"
#include "wording/receipt_text.hpp"

namespace pinfold {
namespace {

Json receipt(const Receipt& value) {
    auto json = parseJson(encode(value)); // the JSON of a receipt has the same keys as the receipt in the history
    json["started_iso"] = formatUtc(value.started);
    json["ended_iso"] = formatUtc(value.ended);
    for (std::size_t i = 0; i < value.taskList.size(); ++i) {
        json["task_list"][i]["started_iso"] = formatUtc(value.taskList[i].started);
        json["task_list"][i]["ended_iso"] = formatUtc(value.taskList[i].ended);
    }
    json["cpu_efficiency"] = optionalToJson(cpuEfficiency(value));
    json["memory_efficiency"] = optionalToJson(memoryEfficiency(value));
    json["oom_line"] = value.oom ? Json(oomLine(*value.oom, value.usage.memoryPeak)) : Json(nullptr);
    const auto stopped = stopLine(value, value.origin.host.value_or("this node"), userNumber);
    json["stop_line"] = stopped.empty() ? Json(nullptr) : Json(stopped);
    return json;
}

Json firstEnd(const HostsOfJob& job, const EndEvent& event) {
    return {{"host", job.hosts[event.host].name},
            {"reason", toString(event.kind)},
            {"task", optionalToJson(event.task)},
            {"at", event.at},
            {"at_iso", formatUtc(event.at)}};
}

} // namespace

std::string jsonReceipts(const std::vector<Receipt>& receipts) {
    Json list = Json::array();
    for (const auto& value : receipts)
        list.push_back(receipt(value));
    return document({{"receipts", std::move(list)}});
}

std::string jsonReceipt(const Receipt& value) { return document({{"receipt", receipt(value)}}); }

std::string jsonHosts(const HostsOfJob& job) {
    const auto& first = job.first.event;
    Json list = Json::array();
    for (const auto& host : job.hosts)
        for (const auto& value : host.receipts)
            list.push_back(receipt(value));
    Json body{{"receipt", receipt(job.explaining())},
              {"first_end", first ? firstEnd(job, *first) : Json(nullptr)},
              {"missing_hosts", job.missing},
              {"missing_total", job.missing.size() + job.missingUnnamed}};
    body["receipts"] = std::move(list); // an initializer list would copy the list of receipts
    return document(std::move(body));
}

std::string jsonReceiptLine(const Receipt& value) { return dump(withSchema(receipt(value))) + "\n"; }

} // namespace pinfold
