// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "model/metrics.hpp"

#include <functional>
#include <string_view>

namespace pinfold {

/// Counts the events on the node since the start of pinfoldd.
class MetricsCounter {
public:
    void jobStarted() { changed(); }
    void drainChanged() { changed(); }
    void jobEnded(const Receipt& receipt) {
        counts_.add(receipt);
        changed();
    }
    /// Counts a scope that systemd has started. The argument `time` is the time from the first call to systemd until every
    /// process is in the scope.
    void scopeStarted(Microseconds time) {
        counts_.scopeStart.observe(time);
        changed();
    }
    void troubled(Trouble trouble) {
        ++counts_.errors[trouble];
        changed();
    }

    /// Counts orphans. The argument `kind` is one of the names that forEachOrphanKind() uses.
    void foundOrphans(std::string_view kind, std::size_t count) {
        if (count == 0)
            return;
        counts_.orphans.find(kind)->second += count;
        changed();
    }

    const NodeCounts& counts() const { return counts_; }

    std::function<void()> onChange;

private:
    void changed() const {
        if (onChange)
            onChange();
    }

    NodeCounts counts_;
};

} // namespace pinfold
