// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Shows text on the terminal's alternate screen, and reads keys one by one. The terminal gets its former state back at the end
/// of the TopScreen, while the program is stopped (SIGTSTP), and when SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the program. Only
/// one TopScreen may exist at a time, because signal handlers are not methods of an object.
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

    /// Shows lines, each with a line break. There must not be more lines, or longer ones, than size() allows.
    void show(const std::string& text) const;

    static constexpr char kRedraw = '\f'; ///< the key that asks for a redraw; wait() also returns it after a resize of the
                                          ///< terminal
    /// Waits for a key. Returns 'q' if the terminal has gone, and nullopt after `usec` microseconds.
    std::optional<char> wait(std::uint64_t usec) const;
};

} // namespace pinfold
