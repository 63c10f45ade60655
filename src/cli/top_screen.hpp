// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// The terminal's alternate screen, with keys read one by one. The terminal is as it was before when this goes, while the program
/// is stopped (SIGTSTP), and when SIGINT, SIGTERM, SIGHUP or SIGQUIT ends it. One at a time: signals know no objects.
class TopScreen {
public:
    /// Is standard output a terminal that can do it?
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

    /// Lines with a line break each, no more and no longer than size() says.
    void show(const std::string& text) const;

    static constexpr char kRedraw = '\f'; ///< the key that asks for it; also what a resize is
    /// A key; 'q' when the terminal has gone; nullopt after `usec` microseconds.
    std::optional<char> wait(std::uint64_t usec) const;
};

} // namespace pinfold
