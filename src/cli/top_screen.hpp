// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Shows text on the terminal's alternate screen, and reads keys one by one. The destructor of TopScreen restores the terminal's
/// former state. TopScreen restores the terminal's former state when SIGTSTP stops the program. TopScreen restores the terminal's
/// former state when SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the program. Only one TopScreen is allowed to exist at a time,
/// because the signal handlers of TopScreen use global variables.
class TopScreen {
public:
    /// Returns true if standard output is a terminal with an alternate screen.
    static bool possible();

    TopScreen();
    ~TopScreen();
    TopScreen(const TopScreen&) = delete;
    TopScreen& operator=(const TopScreen&) = delete;

    struct Size {
        std::size_t width = 80;
        std::size_t height = 24;
    };
    static Size size();

    /// Shows a text of several lines, in which each line ends with a line break. The text must fit into a terminal of the size
    /// that size() returns.
    void show(const std::string& text) const;

    static constexpr char kRedraw = '\f'; ///< the result of wait() after Ctrl-L, or after a change of the terminal's size
    /// Waits for a key. Returns 'q' if the terminal is closed. Returns nullopt if no key comes within `time`.
    std::optional<char> wait(Microseconds time) const;
};

} // namespace pinfold
