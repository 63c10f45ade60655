// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/end_report.hpp"

namespace pinfold {

Result<void> prepareFacts(const Caller& caller, EndReport& report) {
    if (!caller.admin && report.identity != JobIdentity{})
        return Error{ErrorCode::Denied, "only root and pinfold-admin may add facts to the receipt at the end of a job"};
    makePrintable(report.identity);
    return validate(report.identity.labels);
}

} // namespace pinfold
