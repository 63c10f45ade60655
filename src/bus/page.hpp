// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus/codec.hpp"
#include "os/freed_memory.hpp"

#include <cstddef>
#include <vector>

namespace pinfold {

/// Holds a page. A page is a part of a list, and fits into one message of D-Bus. dbus-daemon disconnects a connection that sends
/// more than 32 MiB in one message. The number of values in a page is limited: the event loop needs some microseconds for each
/// value, and other requests wait meanwhile.
class Page {
public:
    static constexpr std::size_t kMostBytes = 4 << 20;
    static constexpr std::size_t kMostValues = 20'000;

    /// Adds an entry. If the page is full, add() returns false and does not add `entry`. If the page is empty, add() adds even an
    /// entry that is larger than a page.
    bool add(Dict entry);
    /// Returns the entries of the page. The caller sets `more` if the list possibly has entries that the caller has not passed to
    /// add(). If `more` is true, or if the page was full, take() puts a mark into the last entry of the page. The mark tells the
    /// client that the list possibly has entries after the marked entry.
    std::vector<Dict> take(bool more) &&;

private:
    std::vector<Dict> entries_;
    std::size_t bytes_ = 0;
    std::size_t values_ = 0;
    bool full_ = false;
};

/// Returns an upper bound for the size of the dictionary in a message, in bytes.
std::size_t bytesOf(const Dict& dict);

/// Answers a call with as many of `items` as fit into one page. `most` is the maximum number of items that the caller wants. If
/// `items` has `most` elements, the answer says that the list possibly has more items.
template <class Answer, class Items, class Encode>
void givePage(FreedMemory& freed, const Answer& answer, const Items& items, std::size_t most, Encode&& encode) {
    Page page;
    for (const auto& item : items)
        if (!page.add(encode(item)))
            break;
    answer.give(std::move(page).take(items.size() >= most));
    // A long answer takes much memory. sdbus-c++ keeps each value of a dictionary as a separate message until the answer is sent.
    if (items.size() > 100)
        freed.giveBack();
}

} // namespace pinfold
