// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

namespace pinfold {

/// Says how a process ended, with the information that wait(2) gives.
struct ExitState {
    std::optional<int> status = {}; ///< the exit status of the process, 0 to 255
    std::optional<int> signal = {}; ///< the number of the signal that ended the process, 1 to 64

    bool known() const { return status || signal; }
    bool operator==(const ExitState&) const = default;
};

} // namespace pinfold
