// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>

namespace pinfold {

enum class ColorMode { Auto, Always, Never };

struct TerminalOptions {
    ColorMode color = ColorMode::Auto;
    bool pager = true;
    bool full = false; ///< lines of the output are never cut
};

enum class Tone { Plain, Good, Warning, Bad, Dim };

class Terminal {
public:
    explicit Terminal(TerminalOptions options);

    /// Returns the maximum width of a line, in columns. Returns 0 if pinfold must not cut lines (output to a pipe, or --full).
    std::size_t width() const;
    /// Returns the text with colours, if colours are on. Colours are on with --color=always. With --color=auto, colours are on if
    /// the output is a terminal, NO_COLOR is not set and TERM is not "dumb".
    std::string colored(Tone tone, const std::string& text) const;
    /// Prints to standard output. If standard output is a terminal, print() uses a pager. The pager is $PINFOLD_PAGER. If
    /// PINFOLD_PAGER is not set, the pager is $PAGER. If PINFOLD_PAGER and PAGER are not set, the pager is `less -FRSX`.
    void print(const std::string& text) const;
    /// Use this print() for texts that are possibly too large for the memory. print() calls `write`, and `write` prints the text
    /// piece by piece. If the pager does not exist, print() calls `write` a second time.
    void print(const std::function<void(std::FILE* to)>& write) const;

private:
    TerminalOptions options_;
    bool isTerminal_;
};

} // namespace pinfold
