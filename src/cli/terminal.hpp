// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string>

namespace pinfold {

enum class ColorMode { Auto, Always, Never };

struct TerminalOptions {
    ColorMode color = ColorMode::Auto;
    bool pager = true;
    bool full = false; ///< never cut
};

enum class Tone { Plain, Good, Warning, Bad, Dim };

class Terminal {
public:
    explicit Terminal(TerminalOptions options);

    /// Columns to fit into; 0 when lines are never cut: piped, or --full.
    std::size_t width() const;
    /// The text in colour where that is wanted: a terminal, TERM other than dumb, no NO_COLOR, or --color=always.
    std::string colored(Tone tone, const std::string& text) const;
    /// To standard output, through a pager when that is a terminal: $PINFOLD_PAGER, $PAGER, else less -FRSX.
    void print(const std::string& text) const;

private:
    TerminalOptions options_;
    bool isTerminal_;
};

} // namespace pinfold
