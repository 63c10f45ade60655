// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/start/start_record.hpp"

namespace pinfold {

Result<void> storeBeforeStart(const Core& core, const Job& job) {
    if (auto saved = core.context.records.save(job.record); !saved)
        return Error{ErrorCode::SystemdFailed, "the job's record cannot be stored: " + saved.error().message};
    return {};
}

} // namespace pinfold
