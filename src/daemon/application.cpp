// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/application.hpp"

#include "base/bus_names.hpp"
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "build_config.hpp"
#include "bus/caller.hpp"
#include "bus/foreign_descriptors.hpp"
#include "bus/manager_object.hpp"
#include "core/context.hpp"
#include "core/history/history_keeper.hpp"
#include "core/job_manager.hpp"
#include "core/report/metrics_file.hpp"
#include "daemon/admins.hpp"
#include "daemon/log.hpp"
#include "daemon/settings.hpp"
#include "daemon/status_line.hpp"
#include "os/host_name.hpp"
#include "os/notify_socket.hpp"
#include "os/read_file.hpp"
#include "os/sd_event_loop.hpp"
#include "os/subordinate_users.hpp"
#include "os/thread_background.hpp"
#include "os/user_database.hpp"
#include "socket/turn_away.hpp"
#include "socket/wrapper_socket.hpp"
#include "systemd/bus_name.hpp"
#include "systemd/sdbus_event_source.hpp"
#include "systemd/sdbus_systemd_manager.hpp"

#include <fcntl.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace pinfold {
namespace {

constexpr int kExitConfig = 78; // EX_CONFIG of sysexits.h; the unit file lists this status in RestartPreventExitStatus=
constexpr int kExitRestart = 1;
// kPauseSeconds is the pause before pinfoldd exits after an error. Without the pause, systemd would start pinfoldd ten times a
// second while a disk is full. Every failed start of pinfoldd writes a line to the journal.
constexpr unsigned kPauseSeconds = 2;
constexpr Microseconds kBarrier = 2s;
// The policy of the bus identifies pinfoldd only by the bus names of pinfoldd. As soon as pinfoldd has connected to the bus,
// pinfoldd takes the name org.pinfold1.Daemon. If a message to the owner of the name org.pinfold1.Daemon contains file
// descriptors, the bus refuses the message. While pinfoldd takes over jobs, users cannot send file descriptors to pinfoldd over
// the bus.
constexpr const char* kEarlyBusName = "org.pinfold1.Daemon";

/// Returns the socket of pinfoldd.socket (see sd_listen_fds(3)), or -1 if systemd has passed no socket.
int passedSocket() {
    if (sd_listen_fds(0) <= 0)
        return -1;
    (void)::fcntl(SD_LISTEN_FDS_START, F_SETFL, O_NONBLOCK);
    return SD_LISTEN_FDS_START;
}

/// Handles errors that a restart of pinfoldd cannot repair. refuse() writes the error to the log once, and systemd does not
/// restart pinfoldd. When a wrapper connects to the socket, systemd starts pinfoldd again. If the restarted pinfoldd still
/// finds an error, pinfoldd tells the wrapper why the wrapper's job cannot run. Every wrapper in the socket's queue must get an
/// answer, because otherwise systemd would start pinfoldd again and again. After an error, a wrapper that waits for the end of
/// a job connects to the socket every few seconds. DaemonLink makes all waiting wrappers of a node connect at the same moment.
int refuse(const Error& error) {
    turnAway(passedSocket(),
             {ErrorCode::Unreachable, "pinfoldd does not start: " + error.message +
                                          "; an administrator must fix this and run `systemctl restart pinfoldd`"});
    logErrorLine(error.message);
    // When systemd reads a status message, the sending process must still exist, so that systemd can find the unit. pinfoldd must
    // not exit before systemd has read the message.
    sd_notifyf(0, "STATUS=%s", error.message.c_str());
    sd_notify_barrier(0, toUsec(kBarrier));
    return kExitConfig;
}

/// Handles an error, such as a full disk, that can disappear without a change of the configuration. After failForNow(),
/// pinfoldd exits, and systemd starts pinfoldd again. Until pinfoldd has started again, wrappers wait in the socket's queue.
int failForNow(const Error& error) {
    logErrorLine("cannot start, pinfoldd tries again: " + error.message);
    sd_notifyf(0, "STATUS=Trying again: %s", error.message.c_str());
    ::sleep(kPauseSeconds);
    return kExitRestart;
}

std::string readBootId() {
    auto text = readFile(AT_FDCWD, "/proc/sys/kernel/random/boot_id").value_or("");
    return text.substr(0, text.find('\n'));
}

/// Tells systemd that the start of pinfoldd waits for the migration of the history. The start time-out of the unit must not
/// interrupt the migration. If the migration were interrupted, the next pinfoldd would have to begin the migration again.
void announceMigration() {
    constexpr const char* what = "converting the receipts of an older pinfold, which takes about a minute for each million";
    // Only the loop's thread is allowed to use the log, so announceMigration() writes its line to standard error.
    // announceMigration() never runs in the loop's thread, so dprintf() is allowed to block.
    (void)::dprintf(STDERR_FILENO, "<6>history: %s\n", what);
    sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%llu\nSTATUS=%s", 3'600'000'000ULL, what);
}

/// Opens the kernel's log. Without the kernel's log, pinfoldd works, but does not know which process the kernel killed when
/// memory ran out.
UniqueFd kernelLog() {
    auto log = KernelLog::openDevice();
    if (!log)
        logInfo(log.error().message);
    return log ? std::move(*log) : UniqueFd();
}

void logNameError(const std::string& name, const std::string& why) {
    logErrorLine("cannot acquire the bus name " + name +
                 ": is another pinfoldd running, or does the bus not know pinfold's policy yet? " + why);
}

class Application {
public:
    struct Parts {
        SdEventLoop& loop;
        ThreadBackground& background;
        Settings& settings;
        Journal& journal;
    };
    Application(const std::filesystem::path& root, Parts parts)
        : settings_(parts.settings), loop_(parts.loop), notify_(loop_), background_(parts.background), closer_(background_),
          connection_(dbus::systemBus()), name_(*connection_, loop_, kBusName),
          foreign_(connection_->getEventLoopPollData().fd, closer_),
          busSource_(loop_.get(), *connection_, [this](const std::string& why) { busLost(why); }), systemd_(*connection_, loop_),
          processes_(root), cgroups_(root), placeholders_(loop_), watch_(loop_), records_(inRoot(root, kRecordsDirectory)),
          kernelLog_(kernelLog()), history_(background_, inRoot(root, kHistoryFile), announceMigration),
          subordinates_({loop_, background_, root / "etc/subuid", findUser, nameOfUser, logInfo, logWarningLine}),
          context_{loop_,
                   background_,
                   systemd_,
                   processes_,
                   cgroups_,
                   std::make_shared<KernelProcessMover>(cgroups_, processes_),
                   std::make_shared<KernelProcessKiller>(processes_),
                   placeholders_,
                   watch_,
                   records_,
                   history_,
                   parts.journal,
                   kernelLog_,
                   metrics_,
                   settings_.config(),
                   readBootId(),
                   root,
                   [this](uid_t uid) { return subordinates_.userOf(uid); },
                   [this](uid_t uid) { return subordinates_.idsOf(uid); },
                   [this] { return subordinates_.owners(); },
                   nameOfUser,
                   nameOfGroup,
                   hostName,
                   PINFOLD_VERSION},
          status_(loop_, [this] { tellStatus(); }), jobs_(context_), historyKeeper_(context_),
          metricsFile_({loop_, background_, jobs_, history_, metrics_, closer_, settings_.config(), root, PINFOLD_VERSION,
                        logWarningLine}),
          clients_([this](uid_t uid) { return subordinates_.userOf(uid); }), admins_(loop_, background_, clients_),
          callers_(*connection_, clients_),
          manager_({*connection_, loop_, jobs_, historyKeeper_, callers_, clients_, foreign_,
                    [this](Reply<void> reply) { reload(std::move(reply)); }, logErrorLine, [this] { status_.changed(); }}),
          socket_(UniqueFd(passedSocket()), {loop_, jobs_, clients_, closer_, settings_.config(), logErrorLine}),
          terminate_(loop_.onSignal(SIGTERM, [this] { terminate(); })), interrupt_(loop_.onSignal(SIGINT, [this] { stop(0); })),
          hangup_(loop_.onSignal(SIGHUP, [this] { reload([](const Result<void>&) {}); })) {}

    // Each unsent answer contains a reference to the connection to the bus. The destructor must destroy the unsent answers
    // first, and the connection later.
    ~Application() { background_.forget(); }
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    int run() {
        loop_.quitAtException(kExitRestart);
        if (!takeEarlyName())
            return kExitRestart;
        subordinates_.look();
        jobs_.recover([this](const Result<void>& recovered) { admins_.refresh([this, recovered] { ready(recovered); }); });
        return loop_.run();
    }

private:
    void ready(const Result<void>& recovered) {
        if (!recovered) {
            logErrorLine("cannot take up the jobs of an earlier pinfoldd: " + recovered.error().message);
            return stop(kExitRestart);
        }
        // The bus possibly answers late. pinfoldd already watches the jobs of an earlier pinfoldd, so the loop must not wait for
        // the answer of the bus.
        name_.request([this](const Result<void>& named) {
            // An exception of open() must reach the loop. If open() ran in the answer, the exception would abort pinfoldd.
            if (named) {
                open_ = loop_.after(0us, [this] { open(); });
                return;
            }
            logNameError(kBusName, named.error().message);
            stop(kExitRestart);
        });
    }

    void open() {
        if (passedSocket() >= 0)
            socket_.open();
        else
            logWarningLine("started without pinfoldd.socket: pinfold-run cannot reach this pinfoldd");
        historyKeeper_.start();
        metricsFile_.configure();
        notify_.startWatchdog();
        tellStatus();
        if (const auto told = notify_.state("READY=1"); !told) {
            logErrorLine("cannot tell systemd that the start is over: " + told.error().message);
            return stop(kExitRestart);
        }
        logInfo("ready, " + counted(jobs_.jobCount(), "job", "jobs") + " taken up");
        loop_.quitAtException({});
    }

    bool takeEarlyName() {
        try {
            dbus::requestName(*connection_, kEarlyBusName);
            return true;
        } catch (const sdbus::Error& error) {
            logNameError(kEarlyBusName, error.getMessage());
            return false;
        }
    }

    void tellStatus() { notify_.status(statusLine(jobs_.jobCount(), jobs_.draining(), rejected_)); }

    void reload(Reply<void> reply) {
        auto loaded = settings_.load(); // load() writes the error to the log
        rejected_ = loaded ? "" : loaded.error().message;
        tellStatus();
        if (!loaded) {
            metrics_.troubled(Trouble::Config);
            return reply(loaded);
        }
        jobs_.configChanged();
        metricsFile_.configure();
        admins_.refresh([reply = std::move(reply)] { reply({}); });
    }

    void busLost(const std::string& why) {
        // pinfoldd does not reconnect to the bus, but exits. The next pinfoldd takes over all jobs from the records and units.
        // pinfoldd takes over jobs at each start, so the code for the take-over is well tested.
        logErrorLine("the connection to the bus was lost (" + why + "): pinfoldd starts again");
        stop(kExitRestart);
    }

    void terminate() {
        if (!jobs_.shuttingDown())
            return stop(0);
        (void)notify_.state("STOPPING=1");
        notify_.status("Waiting for the receipts of the last jobs");
        jobs_.finishShutdown([this] { quit(0); });
    }

    void stop(int status) {
        (void)notify_.state("STOPPING=1");
        quit(status);
    }

    void quit(int status) {
        jobs_.storeChanges();
        loop_.quit(status);
    }

    Settings& settings_;
    SdEventLoop& loop_;
    NotifySocket notify_;
    ThreadBackground& background_;
    DescriptorCloser closer_;
    std::unique_ptr<sdbus::IConnection> connection_;
    BusName name_;
    ForeignDescriptors foreign_;
    SdbusEventSource busSource_;
    SdbusSystemdManager systemd_;
    ProcessTable processes_;
    CgroupTree cgroups_;
    ForkedPlaceholders placeholders_;
    CgroupWatch watch_;
    RecordStore records_;
    KernelLog kernelLog_;
    AsyncHistory history_;
    SubordinateUsers subordinates_;
    MetricsCounter metrics_;
    CoreContext context_;
    std::string rejected_; ///< why the configuration was rejected; empty if the configuration is in force
    StatusTeller status_;
    JobManager jobs_;
    HistoryKeeper historyKeeper_;
    MetricsFile metricsFile_;
    CallerLimits clients_;
    Admins admins_;
    CallerResolver callers_;
    ManagerObject manager_;
    WrapperSocket socket_;
    EventHandle open_;
    EventHandle terminate_;
    EventHandle interrupt_;
    EventHandle hangup_;
};

} // namespace

int runDaemon(const std::filesystem::path& root) {
    SdEventLoop loop(logErrorLine, std::getenv("PINFOLD_LOOP_METER") ? SdEventLoop::Meter::On : SdEventLoop::Meter::Off);
    ThreadBackground background(loop);
    MessageQueue messages(background);
    messages.onLost = [](std::uint64_t count) {
        logWarningLine(std::to_string(count) + " messages were lost, because the journal did not accept any");
    };
    const QueuedLog log(messages);
    QueuedJournal journal{"pinfoldd", messages};
    if (auto checked = CgroupTree(root).check(); !checked)
        return refuse(checked.error());
    Settings settings(root, journal);
    if (auto loaded = settings.load(); !loaded)
        return refuse(loaded.error());
    if (auto prepared = RecordStore(inRoot(root, kRecordsDirectory)).prepare(); !prepared)
        return failForNow(prepared.error());
    return Application(root, {loop, background, settings, journal}).run();
}

} // namespace pinfold
