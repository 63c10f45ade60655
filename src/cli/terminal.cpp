// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace pinfold {
namespace {

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
}

const char* code(Tone tone) {
    switch (tone) {
    case Tone::Good:
        return "\x1b[32m";
    case Tone::Warning:
        return "\x1b[33m";
    case Tone::Bad:
        return "\x1b[31m";
    case Tone::Dim:
        return "\x1b[2m";
    case Tone::Plain:
        break;
    }
    return "";
}

std::string pagerCommand() {
    for (const char* name : {"PINFOLD_PAGER", "PAGER"})
        if (const char* command = environment(name))
            return command;
    return "command -v less >/dev/null && exec less -FRSX; exit 127";
}

/// Shows the output of `write` in a pager. Returns true if the user could see the output, and false if the pager does not exist
/// (the shell's status 127).
bool page(const std::function<void(std::FILE* to)>& write) {
    std::signal(SIGPIPE, SIG_IGN); // if the user leaves the pager early, SIGPIPE must not end pinfold
    std::FILE* pager =
        ::popen(pagerCommand().c_str(), "w"); // NOLINT(cert-env33-c): by convention, PAGER is a command line for the shell
    if (!pager)
        return false;
    write(pager);
    const int status = ::pclose(pager);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 127;
}

} // namespace

Terminal::Terminal(TerminalOptions options) : options_(options), isTerminal_(::isatty(STDOUT_FILENO) == 1) {}

std::size_t Terminal::width() const {
    winsize size{};
    if (!isTerminal_ || options_.full || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

std::string Terminal::colored(Tone tone, const std::string& text) const {
    const char* term = environment("TERM");
    const bool automatic = isTerminal_ && !environment("NO_COLOR") && term && std::string_view(term) != "dumb";
    const bool color = options_.color == ColorMode::Always || (options_.color == ColorMode::Auto && automatic);
    return color && tone != Tone::Plain ? code(tone) + text + "\x1b[0m" : text;
}

void Terminal::print(const std::string& text) const {
    print([&text](std::FILE* to) { std::fputs(text.c_str(), to); });
}

void Terminal::print(const std::function<void(std::FILE* to)>& write) const {
    if (isTerminal_ && options_.pager && page(write))
        return;
    write(stdout);
    std::fflush(stdout);
}

} // namespace pinfold
