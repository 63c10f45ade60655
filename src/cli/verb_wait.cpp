// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/patience.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbWait(const VerbContext& context) {
    const auto& line = context.line;
    const auto receipt =
        insist<Receipt>([&](const ManagerClient& client) { return client.wait(line.job, line.timeout.value_or(kInfinity)); });
    return endWithReceipt(context, receipt);
}

} // namespace pinfold
