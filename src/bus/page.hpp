// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus/codec.hpp"
#include "os/freed_memory.hpp"

#include <cstddef>
#include <vector>

namespace pinfold {

/// Is a part of a list, small enough for one message. dbus-daemon disconnects a sender of more than 32 MiB, and each value costs
/// the loop some microseconds.
class Page {
public:
    static constexpr std::size_t kMostBytes = 4 << 20;
    static constexpr std::size_t kMostValues = 20'000;

    /// Adds an entry. Returns false if the page is full and does not take `entry`. Each page has room for at least one entry of
    /// any size.
    bool add(Dict entry);
    /// Takes the entries. `more` says that the list may have more entries than add() got. If `more` is true or the page was full,
    /// the last entry says that there may be more.
    std::vector<Dict> take(bool more) &&;

private:
    std::vector<Dict> entries_;
    std::size_t bytes_ = 0;
    std::size_t values_ = 0;
    bool full_ = false;
};

/// Returns at least as many bytes as the dictionary takes in a message.
std::size_t bytesOf(const Dict& dict);

/// Answers with as many of `items` as fit into one page. The caller has asked for at most `most` items. If `items` has `most`
/// items, the answer says that there may be more.
template <class Answer, class Items, class Encode>
void givePage(FreedMemory& freed, const Answer& answer, const Items& items, std::size_t most, Encode&& encode) {
    Page page;
    for (const auto& item : items)
        if (!page.add(encode(item)))
            break;
    answer.give(std::move(page).take(items.size() >= most));
    // A long answer takes much memory, because each value of a dictionary is a separate message until it is sent.
    if (items.size() > 100)
        freed.giveBack();
}

} // namespace pinfold
