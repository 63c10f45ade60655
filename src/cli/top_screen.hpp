// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// The terminal's alternate screen, with keys read one by one. The terminal gets its former state back when this object goes,
/// while the program is stopped (SIGTSTP), and when SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the program. There may be only one
/// object at a time, because signal handlers have no object.
class TopScreen {
public:
    /// True: standard output is a terminal that can do this.
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

    /// Shows lines, each with a line break. They must not be more or longer than size() says.
    void show(const std::string& text) const;

    static constexpr char kRedraw = '\f'; ///< the key that asks for a redraw; a resize of the terminal gives it, too
    /// Waits for a key. 'q' when the terminal has gone; nullopt after `usec` microseconds.
    std::optional<char> wait(std::uint64_t usec) const;
};

} // namespace pinfold
