// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/sweep.hpp"

#include "os/user_terminal.hpp"

#include <fmt/core.h>

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <utility>

namespace pinfold {
namespace {

using Clock = std::chrono::steady_clock;

/// A process ends within kDeathTime after SIGKILL, unless it hangs in the kernel.
constexpr std::chrono::seconds kDeathTime{2};

/// Waits until all strays have ended, but no longer than `time`. Returns the strays that have not ended.
std::vector<Stray> outlast(std::vector<Stray> strays, std::chrono::microseconds time) {
    const auto deadline = Clock::now() + time;
    while (true) {
        std::erase_if(strays, [](const Stray& stray) { return hasEnded(stray.process.pidfd.get()); });
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (strays.empty() || left <= 0)
            return strays;
        std::vector<pollfd> pidfds;
        for (const auto& stray : strays)
            pidfds.push_back({stray.process.pidfd.get(), POLLIN, 0});
        (void)::poll(pidfds.data(), pidfds.size(), static_cast<int>(left));
    }
}

/// Sends one message to each terminal. The message to a terminal names all strays of this terminal.
class Terminals {
public:
    explicit Terminals(const std::vector<Stray>& strays) {
        for (const auto& stray : strays)
            if (stray.actedOn() && stray.process.info.terminal != 0)
                ++strays_[keyOf(stray)];
    }

    void warn(const Stray& stray) {
        const auto entry = strays_.find(keyOf(stray));
        if (entry == strays_.end())
            return;
        const auto& info = stray.process.info;
        const auto text = fmt::format("\r\npinfold: {} of your processes here belong to no batch job, and the administrators may "
                                      "end them; the first is {}, {}\r\n",
                                      entry->second, info.pid, info.command.substr(0, kCommand));
        // If the terminal accepts no messages, the warning is still in the journal.
        (void)writeToTerminal(info.terminal, info.realUid, text);
        strays_.erase(entry);
    }

private:
    static constexpr std::size_t kCommand = 60;
    using Key = std::pair<std::uint32_t, uid_t>;
    static Key keyOf(const Stray& stray) { return {stray.process.info.terminal, stray.process.info.realUid}; }

    std::map<Key, std::size_t> strays_;
};

StrayAction spared(const Error& why) {
    return {why.code == ErrorCode::PidGone ? StrayAction::Kind::Spare : StrayAction::Kind::Failure, why.message};
}

StrayAction sendTo(const Stray& stray, StrayAction::Kind kind) {
    const int pidfd = stray.process.pidfd.get();
    auto sent = sendSignalTo(pidfd, kind == StrayAction::Kind::Kill ? SIGKILL : SIGTERM);
    if (sent && kind == StrayAction::Kind::Terminate) // a stopped process acts on the signal only when it runs again
        sent = sendSignalTo(pidfd, SIGCONT);
    return sent ? StrayAction{kind, {}} : StrayAction{StrayAction::Kind::Failure, sent.error().message};
}

/// Sends SIGTERM or SIGKILL to each stray that is not spared, and returns the strays that got this signal.
std::vector<Stray> signalAll(const StrayScanner& scanner, std::vector<Stray> strays, StrayAction::Kind kind, const Tell& tell) {
    std::vector<Stray> reached;
    for (auto& stray : strays) {
        if (!stray.actedOn()) {
            tell(stray, {StrayAction::Kind::Spare, *stray.spared});
            continue;
        }
        const auto same = scanner.confirm(stray);
        const auto action = same ? sendTo(stray, kind) : spared(same.error());
        tell(stray, action);
        if (action.kind == kind)
            reached.push_back(std::move(stray));
    }
    return reached;
}

void killAll(const StrayScanner& scanner, std::vector<Stray> strays, const Tell& tell) {
    for (const auto& stray : outlast(signalAll(scanner, std::move(strays), StrayAction::Kind::Kill, tell), kDeathTime))
        tell(stray, {StrayAction::Kind::Failure, "SIGKILL did not end it: it hangs in the kernel"});
}

Result<void> stopAll(const StrayScanner& scanner, std::vector<Stray> strays, const Tell& tell) {
    const std::chrono::microseconds grace(scanner.config().grace);
    auto left = outlast(signalAll(scanner, std::move(strays), StrayAction::Kind::Terminate, tell), grace);
    if (left.empty())
        return {};
    // After the call of look(), a stray could have become a supervisor by execve(2). After the call of look(), a job of the
    // stray's user could have begun.
    auto findings = scanner.lookAgain(std::move(left));
    if (!findings.areSure())
        return Error{ErrorCode::Internal, "SIGKILL was not sent to processes that survived SIGTERM: " +
                                              (findings.unseen.empty() ? findings.doubts : findings.unseen).front()};
    killAll(scanner, std::move(findings.strays), tell);
    return {};
}

void warnAll(const StrayScanner& scanner, std::vector<Stray> strays, const Tell& tell) {
    Terminals terminals(strays);
    for (auto& stray : strays) {
        if (!stray.actedOn()) {
            tell(stray, {StrayAction::Kind::Spare, *stray.spared});
            continue;
        }
        if (const auto same = scanner.confirm(stray); !same) {
            tell(stray, spared(same.error()));
            continue;
        }
        terminals.warn(stray);
        tell(stray, {StrayAction::Kind::Warning, {}});
    }
}

} // namespace

StrayAction plannedAction(const Stray& stray, StraysMode mode) {
    if (mode == StraysMode::Report)
        return {};
    if (!stray.actedOn())
        return {StrayAction::Kind::Spare, *stray.spared};
    return {mode == StraysMode::Warn   ? StrayAction::Kind::Warning
            : mode == StraysMode::Stop ? StrayAction::Kind::Terminate
                                       : StrayAction::Kind::Kill,
            {}};
}

Result<void> sweep(const StrayScanner& scanner, std::vector<Stray> strays, StraysMode mode, const Tell& tell) {
    switch (mode) {
    case StraysMode::Report:
        for (const auto& stray : strays)
            tell(stray, {});
        return {};
    case StraysMode::Warn:
        warnAll(scanner, std::move(strays), tell);
        return {};
    case StraysMode::Stop:
        return stopAll(scanner, std::move(strays), tell);
    case StraysMode::Kill:
        killAll(scanner, std::move(strays), tell);
        return {};
    }
    return {};
}

} // namespace pinfold
