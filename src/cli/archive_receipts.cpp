// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/archive_receipts.hpp"

#include "archive_client/archive_client.hpp"
#include "base/parse.hpp"
#include "config/config.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>

namespace pinfold {
namespace {

Result<bool> configuredToAsk() {
    const auto loaded = loadConfig(ConfigPaths{});
    if (loaded)
        return loaded->config.archive.ask;
    std::error_code absent;
    if (!std::filesystem::exists(kArchiveSocket, absent))
        return false;
    return Error{
        ErrorCode::ConfigInvalid,
        fmt::format("pinfold cannot find out whether to ask the archive of receipts (archive.ask): {}", loaded.error().message)};
}

} // namespace

Result<bool> asksArchive() {
    // asksArchive() keeps the answer, because some commands call asksArchive() once for each of many jobs.
    static const auto answer = configuredToAsk();
    return answer;
}

Result<std::vector<Receipt>> receiptsOfArchive(const ArchiveQuery& query) {
    auto answer = askArchive(query);
    if (!answer)
        return answer.error();
    if (!answer->unreadable.empty())
        std::fprintf(stderr,
                     "pinfold: the output lacks %s of the archive, because this version of pinfold cannot read the text: %s\n",
                     counted(answer->unreadable.size(), "receipt", "receipts").c_str(), answer->unreadable.front().c_str());
    return std::move(answer->receipts);
}

} // namespace pinfold
