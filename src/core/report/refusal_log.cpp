// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/report/refusal_log.hpp"

#include "base/enum_names.hpp"
#include "base/parse.hpp"
#include "core/report/events.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <utility>

namespace pinfold {
namespace {

/// For each Lane, kWork says what pinfoldd could not do. tell() puts the text from kWork into its warning.
constexpr auto kWork = enumNames<Lane>({
    {Lane::HistoryWrite, "change the history"},
    {Lane::HistoryRead, "read the history"},
    {Lane::Processes, "read the command lines of processes"},
    {Lane::WaitPoints, "find out where unkillable processes hang"},
    {Lane::Descriptors, "close files that users passed to it"},
    {Lane::Output, "write lines into the output of jobs"},
    {Lane::Journal, "write to the journal"},
    {Lane::Names, "ask the name service"},
    {Lane::Files, "read /etc/subuid or write drain.json"},
    {Lane::Metrics, "write the file of metrics.textfile"},
    {Lane::Script, "check the program of unkillable.script"},
    {Lane::Moves, "move processes into other cgroups"},
    {Lane::Owners, "look at all processes of a job at the request of the job's owner"},
    {Lane::Kills, "kill processes one by one"},
});

} // namespace

RefusalLog::RefusalLog(CoreContext& context) : context_(context) {
    context.background.onRefused = [this](Lane lane) {
        if (!told_[static_cast<std::size_t>(lane)].next)
            tell(lane);
    };
}

RefusalLog::~RefusalLog() { context_.background.onRefused = nullptr; }

void RefusalLog::tell(Lane lane) {
    auto& told = told_[static_cast<std::size_t>(lane)];
    told.next.reset();
    const auto count = context_.background.refused(lane);
    const auto fresh = count - std::exchange(told.count, count);
    if (fresh == 0)
        return;
    // If Background refuses to write the warning of tell(), Background calls onRefused(). tell() sets `told.next` before it
    // writes the warning, so that onRefused() does not call tell() again.
    told.next = context_.loop.after(kBetween, [this, lane] { tell(lane); });
    logNodeWarning(context_, fmt::format("pinfoldd could not {} ({}), because too many such calls hang, or because the kernel "
                                         "starts no more threads",
                                         kWork[lane], counted(fresh, "time", "times")));
}

} // namespace pinfold
