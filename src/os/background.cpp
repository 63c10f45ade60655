// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/background.hpp"

#include "base/enum_names.hpp"

namespace pinfold {
namespace {

constexpr auto kNames = enumNames<Lane>({
    {Lane::HistoryWrite, "history-write"},
    {Lane::HistoryRead, "history-read"},
    {Lane::Processes, "processes"},
    {Lane::WaitPoints, "wait-points"},
    {Lane::Descriptors, "descriptors"},
    {Lane::Output, "output"},
    {Lane::Journal, "journal"},
    {Lane::Names, "names"},
    {Lane::Files, "files"},
    {Lane::Metrics, "metrics"},
    {Lane::Script, "script"},
    {Lane::Moves, "moves"},
    {Lane::Owners, "owners"},
    {Lane::Kills, "kills"},
});

} // namespace

std::string_view toString(Lane lane) { return kNames[lane]; }

Background::Bound Background::boundOf(Lane lane) {
    switch (lane) {
    case Lane::HistoryWrite:
        return {1, 16};
    case Lane::HistoryRead:
        return {2, 64};
    case Lane::Processes:
        return {16, 64};
    case Lane::WaitPoints:
        return {2, 64};
    case Lane::Descriptors:
        return {32, 1024};
    case Lane::Output:
        return {16, 0};
    case Lane::Journal:
        return {1, 4096};
    case Lane::Names:
        return {1, 4};
    case Lane::Files:
        return {1, 64};
    case Lane::Metrics:
        return {1, 4};
    case Lane::Script:
        return {1, 16};
    case Lane::Moves:
        return {1, 1024};
    case Lane::Owners:
    case Lane::Kills:
        return {2, 1024};
    }
    return {1, 0};
}

void Background::refuse(Lane lane) {
    ++refused_[static_cast<std::size_t>(lane)];
    if (onRefused)
        onRefused(lane);
}

} // namespace pinfold
