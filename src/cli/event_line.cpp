// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/event_line.hpp"

#include "base/parse.hpp"
#include "cli/json_document.hpp"
#include "wording/amounts.hpp"

namespace pinfold {
namespace {

/// Calls `visit` with the JSON key and the value of each member of an event. forEachDetail() omits the name and the job of the
/// event.
template <class F> void forEachDetail(const Event& event, F&& visit) {
    visit("task", event.task);
    visit("count", event.count);
    visit("result", event.result);
    visit("oom_cause", event.oomCause);
    visit("limit", event.limit);
    visit("reason", event.reason);
}

std::string text(std::uint64_t number) { return std::to_string(number); }
std::string text(const std::string& words) { return words; } // pinfoldd has made all texts of events printable

} // namespace

std::string eventLine(const Event& event, RealTime time) {
    auto line = formatLocal(time) + " " + event.name;
    if (event.job)
        line += " " + *event.job;
    forEachDetail(event, [&line](const char* name, const auto& value) {
        if (value)
            line += std::string(" ") + name + "=" + text(*value);
    });
    return line + "\n";
}

std::string jsonEvent(const Event& event, RealTime time) {
    Json json{{"time", time}, {"time_iso", formatUtc(time)}, {"event", event.name}};
    json["job"] = event.job ? Json(*event.job) : Json(nullptr);
    forEachDetail(event, [&json](const char* name, const auto& value) { json[name] = value ? Json(*value) : Json(nullptr); });
    return dump(withSchema(std::move(json))) + "\n";
}

} // namespace pinfold
