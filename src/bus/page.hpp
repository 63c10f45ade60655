// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus/codec.hpp"
#include "os/freed_memory.hpp"

#include <cstddef>
#include <vector>

namespace pinfold {

/// As much of a list as one message takes. dbus-daemon drops who sends more than 32 MiB, and each value costs the loop some
/// microseconds.
class Page {
public:
    static constexpr std::size_t kMostBytes = 4 << 20;
    static constexpr std::size_t kMostValues = 20'000;

    /// False: it is full, and `entry` not in it. There is room for one entry of whatever size.
    bool add(Dict entry);
    /// `more`: there may be more than what was offered. The last entry says so, or that the page was full.
    std::vector<Dict> take(bool more) &&;

private:
    std::vector<Dict> entries_;
    std::size_t bytes_ = 0;
    std::size_t values_ = 0;
    bool full_ = false;
};

/// What is in the message, and a little more.
std::size_t bytesOf(const Dict& dict);

/// `most`: how many there are at most in `items`, of what may be more.
template <class Answer, class Items, class Encode>
void givePage(FreedMemory& freed, const Answer& answer, const Items& items, std::size_t most, Encode&& encode) {
    Page page;
    for (const auto& item : items)
        if (!page.add(encode(item)))
            break;
    answer.give(std::move(page).take(items.size() >= most));
    // Each value of a dictionary is a message of its own until it is sent.
    if (items.size() > 100)
        freed.giveBack();
}

} // namespace pinfold
