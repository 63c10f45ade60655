// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus/codec.hpp"

#include <memory>
#include <utility>

namespace pinfold {

/// Holds the pending answer to a method call. The program must send the answer exactly once. The program can send the answer
/// after the handler of the call has returned. All copies of an Answer are for one and the same call.
template <class... R> class Answer {
public:
    explicit Answer(sdbus::Result<R...>&& result) : result_(std::make_shared<sdbus::Result<R...>>(std::move(result))) {}

    void give(const R&... values) const {
        guarded([&] { result_->returnResults(values...); });
    }
    void fail(const Error& error) const {
        guarded([&] { result_->returnError(toBusError(error)); });
    }

private:
    /// Sends the answer, and ignores errors, because the caller or the bus is possibly gone.
    template <class F> static void guarded(F&& send) {
        try {
            send();
        } catch (const sdbus::Error&) { // NOLINT(bugprone-empty-catch): the caller or the bus is possibly gone
        }
    }

    std::shared_ptr<sdbus::Result<R...>> result_;
};

} // namespace pinfold
