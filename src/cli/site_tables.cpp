// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/site_tables.hpp"

namespace pinfold {

Result<std::vector<ReportTable>> siteTables(RealTime, RealTime) {
    return Error{ErrorCode::Unreachable,
                 "a site report needs the archive, and this host cannot ask an archive: run the command on a "
                 "host that has the package pinfold-archive"};
}

} // namespace pinfold
