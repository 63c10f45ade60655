// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus/codec.hpp"
#include "os/freed_memory.hpp"

#include <cstddef>
#include <vector>

namespace pinfold {

/// A part of a list that fits into one message. dbus-daemon disconnects a sender of more than 32 MiB, and each value costs the
/// loop some microseconds.
class Page {
public:
    static constexpr std::size_t kMostBytes = 4 << 20;
    static constexpr std::size_t kMostValues = 20'000;

    /// False: the page is full, and does not have `entry`. Each page has room for at least one entry, of whatever size.
    bool add(Dict entry);
    /// `more`: the list may have more entries than add() was called for. The last entry says so, if this is so or if the page was
    /// full.
    std::vector<Dict> take(bool more) &&;

private:
    std::vector<Dict> entries_;
    std::size_t bytes_ = 0;
    std::size_t values_ = 0;
    bool full_ = false;
};

/// At least the bytes that the dictionary takes in a message.
std::size_t bytesOf(const Dict& dict);

/// Answers with those of `items` that fit into one page. The caller has asked for at most `most` items. If `items` has as many,
/// the answer says that there may be more.
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
