// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/patience.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbOpen(const VerbContext& context) {
    const auto& line = context.line;
    const auto uid = userId(*line.user);
    if (!uid)
        return fail(uid.error());
    const JobOpening opening{.uid = *uid,
                             .limits = line.limits,
                             .allocation = line.allocation,
                             .slots = line.slots,
                             .linger = line.linger,
                             .reportWithin = line.reportWithin};
    const auto slice = insist<std::string>([&](const ManagerClient& client) { return client.open(line.job, opening); });
    if (!slice)
        return fail(slice.error());
    context.terminal.print(line.json ? jsonOpened(line.job, *slice) : "job " + line.job + ": " + *slice + "\n");
    return ExitStatus::Ok;
}

} // namespace pinfold
