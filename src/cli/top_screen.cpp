// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/top_screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

namespace pinfold {
namespace {

// The control sequence enters the alternate screen, hides the cursor, and clears the screen.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::array kDeadly{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// The signal handlers of TopScreen need global variables.
termios before{};
bool hasKeys = false; ///< pinfold can read keys, because standard input is a terminal
volatile std::sig_atomic_t changed = 0;
sigset_t whileWaiting; ///< the signal mask during the wait for a key

void writeAll(std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno != EINTR)
            return;
        text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
}

void enter() {
    if (hasKeys) {
        auto raw = before;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    writeAll(kEnter);
}

void leave() {
    writeAll(kLeave);
    if (hasKeys)
        (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

// The signal handlers call only async-signal-safe functions (signal-safety(7)).

void act(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    ::sigaction(signal, &action, nullptr);
}

/// Lets the signal have its default effect on the process, as if pinfold had no handler for the signal.
void actByDefault(int signal) {
    act(signal, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::raise(signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

void onDeadly(int signal) {
    leave();
    actByDefault(signal);
}

void onStop(int signal) {
    const int error = errno;
    leave();
    // The signal stops pinfold inside actByDefault(), and actByDefault() returns after SIGCONT. In an orphaned process group, the
    // signal does not stop a process, and actByDefault() returns at once.
    actByDefault(signal);
    act(signal, onStop);
    enter();
    changed = 1;
    errno = error;
}

/// Enters the alternate screen again. pinfold cannot catch SIGSTOP, so onStop() does not run if SIGSTOP stops pinfold. While
/// pinfold is stopped, the shell uses its own terminal settings.
void onContinue(int /*signal*/) {
    const int error = errno;
    enter();
    changed = 1;
    errno = error;
}

void onResize(int /*signal*/) { changed = 1; }

} // namespace

bool TopScreen::possible() {
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && term && *term && std::strcmp(term, "dumb") != 0;
}

TopScreen::TopScreen() {
    hasKeys = ::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before) == 0;
    // pinfold receives SIGTSTP, SIGCONT and SIGWINCH only while pinfold waits for a key. If SIGTSTP, SIGCONT or SIGWINCH came
    // during a call on the bus, the signal could interrupt the call.
    sigset_t waiting;
    ::sigemptyset(&waiting);
    for (const int signal : {SIGTSTP, SIGCONT, SIGWINCH})
        ::sigaddset(&waiting, signal);
    ::sigprocmask(SIG_BLOCK, &waiting, &whileWaiting);
    act(SIGTSTP, onStop);
    act(SIGCONT, onContinue);
    act(SIGWINCH, onResize);
    for (const int signal : kDeadly)
        act(signal, onDeadly);
    enter();
}

TopScreen::~TopScreen() {
    leave();
    for (const int signal : kDeadly)
        act(signal, SIG_DFL);
    for (const int signal : {SIGTSTP, SIGCONT, SIGWINCH})
        act(signal, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &whileWaiting, nullptr);
}

TopScreen::Size TopScreen::size() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return {};
    return {size.ws_col, size.ws_row};
}

void TopScreen::show(const std::string& text) const {
    std::string frame = "\x1b[H";
    std::size_t start = 0;
    for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
        if (start > 0)
            frame += "\r\n"; // the last line has no line break, because a line break would scroll the screen
        frame += text.substr(start, end - start) + "\x1b[K";
    }
    writeAll(frame + "\x1b[J");
}

std::optional<char> TopScreen::wait(Microseconds time) const {
    const auto most = toTimespec(time);
    pollfd keys{hasKeys ? STDIN_FILENO : -1, POLLIN, 0};
    const int ready = ::ppoll(&keys, 1, &most, &whileWaiting);
    if (changed) {
        changed = 0;
        return kRedraw;
    }
    if (ready <= 0)
        return std::nullopt;
    char key = 'q';
    return ::read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';
}

} // namespace pinfold
