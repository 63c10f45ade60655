// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/site_tables.hpp"

#include "archive_client/archive_client.hpp"
#include "cli/archive_receipts.hpp"

namespace pinfold {

Result<std::vector<ReportTable>> siteTables(RealTime since, RealTime until) {
    const auto archive = asksArchive();
    if (!archive)
        return archive.error();
    if (!*archive)
        return Error{ErrorCode::Unreachable,
                     "a site report needs the archive of receipts, and this host does not ask an archive: run the "
                     "command on a login node, or set archive.ask in /etc/pinfold/pinfold.toml"};
    return askForReport({.since = since, .until = until});
}

} // namespace pinfold
