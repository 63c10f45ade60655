// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains main() of pinfold-ship, the program that sends the receipts of a node to the site's archive.
#include "base/paths.hpp"
#include "base/service_options.hpp"
#include "config/config.hpp"
#include "os/read_file.hpp"
#include "os/replace_file.hpp"
#include "ship/bus_receipts.hpp"
#include "ship/postgres_archive.hpp"
#include "ship/shipper.hpp"
#include "store/sent_position.hpp"

#include <systemd/sd-daemon.h>

#include <fcntl.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <random>
#include <thread>

namespace pinfold {
namespace {

constexpr int kExitConfig = 78; // EX_CONFIG: the configuration is wrong, so a restart does not help
constexpr const char* kUsage = "Usage: pinfold-ship [--root DIR]\n"
                               "\n"
                               "Sends the receipts of this node to the site's archive. systemd starts it:\n"
                               "  systemctl enable --now pinfold-ship\n"
                               "\n"
                               "  --root DIR   read the configuration and keep the state below DIR, for tests\n"
                               "  --help       show this help\n"
                               "  --version    show the version\n"
                               "\n"
                               "See pinfold-ship(8), pinfold.toml(5).\n";

void logLine(int priority, const std::string& text) { (void)::dprintf(STDERR_FILENO, "<%d>%s\n", priority, text.c_str()); }

void tellStatus(const std::string& text) { sd_notifyf(0, "STATUS=%s", text.c_str()); }

/// Makes the program exit at once on SIGTERM and SIGINT, even while it waits for the archive. pinfold-ship has nothing to save
/// at its end. After its next start, pinfold-ship sends all receipts that the archive has not committed.
void exitOnSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([signals] {
        int signal = 0;
        ::sigwait(&signals, &signal);
        sd_notify(0, "STOPPING=1");
        ::_exit(0);
    }).detach();
}

/// Writes a file in the state directory. If writing the file fails several times in a row, StateFile logs only the first failure.
class StateFile {
public:
    explicit StateFile(std::filesystem::path path) : path_(std::move(path)) {}

    void write(const std::string& text) {
        const auto written = replaceFile(path_, text, 0644);
        if (!written && !failing_)
            logLine(LOG_WARNING,
                    "cannot write a file (pinfold-ship tries again, but logs this only once): " + written.error().message);
        failing_ = !written;
    }

private:
    std::filesystem::path path_;
    bool failing_ = false;
};

class Ship {
public:
    Ship(const ArchiveConfig& config, const std::filesystem::path& root)
        : sent_(inRoot(root, kSentFile)), textfile_(inRoot(root, kShipMetricsFile)), archive_(config, bootId()),
          shipment_(node_, archive_, readSentPosition(inRoot(root, kSentFile)).value_or(SentPosition{}).epoch,
                    [this](const std::string& epoch, std::uint64_t sequence) {
                        sent_.write(encode(SentPosition{epoch, sequence, RealClock::now()}));
                    }),
          schedule_(BootClock::now(), [this] { return std::uniform_real_distribution<double>(0, 1)(random_); }),
          shipper_({shipment_, schedule_, progress_,
                    [](const Progress::Line& line) { logLine(line.trouble ? LOG_WARNING : LOG_INFO, line.text); },
                    [this] { report(); }, BootClock::now, RealClock::now}) {}

    [[noreturn]] void run() {
        writeMetrics(); // the file possibly contains the metrics of an earlier run with another configuration
        std::optional<EventsWatch> watch;
        while (true) {
            if (!watch) {
                auto connected = EventsWatch::connect();
                if (!connected) {
                    shipper_.busLost(connected.error());
                    std::this_thread::sleep_for(std::chrono::microseconds(untilNext()));
                    continue;
                }
                watch = *std::move(connected);
                shipper_.busFound();
            }
            const auto events = watch->wait(untilNext());
            if (!events) {
                watch.reset();
                shipper_.busLost(events.error());
                continue;
            }
            for (const auto& event : *events)
                shipper_.heard(event);
            shipper_.turn();
            archive_.rest();
        }
    }

private:
    static std::string bootId() {
        const auto text = readFile(AT_FDCWD, "/proc/sys/kernel/random/boot_id").value_or("");
        return text.substr(0, text.find('\n'));
    }

    Microseconds untilNext() const {
        const auto now = BootClock::now();
        const auto next = std::min(shipper_.next(), archive_.restsAt().value_or(BootTime::max()));
        return next > now ? next - now : Microseconds{};
    }

    void report() {
        tellStatus(progress_.status(shipment_.unsent()));
        writeMetrics();
    }

    void writeMetrics() {
        const auto& certificate = archive_.certificate();
        textfile_.write(progress_.metrics(shipment_.unsent(), certificate ? std::optional(certificate->expires) : std::nullopt,
                                          archive_.view()));
    }

    std::mt19937_64 random_{std::random_device{}()};
    StateFile sent_;
    StateFile textfile_;
    BusReceipts node_;
    PostgresArchive archive_;
    Shipment shipment_;
    Schedule schedule_;
    Progress progress_;
    Shipper shipper_;
};

int ship(const std::filesystem::path& root) {
    const auto loaded = loadConfig(ConfigPaths::below(root));
    if (!loaded) {
        logLine(LOG_ERR, loaded.error().message);
        tellStatus(loaded.error().message);
        return kExitConfig;
    }
    if (!loaded->config.archive.enabled()) {
        constexpr const char* nothing = "archive.server is not set in pinfold.toml, so there is no archive to send receipts to";
        logLine(LOG_INFO, nothing);
        sd_notifyf(0, "READY=1\nSTATUS=%s", nothing);
        return 0;
    }
    exitOnSignals();
    std::signal(SIGPIPE, SIG_IGN); // a write to a closed connection must not end the program
    Ship ship(loaded->config.archive, root);
    sd_notify(0, "READY=1");
    ship.run();
}

} // namespace
} // namespace pinfold

int main(int argc, char** argv) {
    try {
        const auto parsed = pinfold::parseServiceOptions(argc, argv, {.name = "pinfold-ship", .usage = pinfold::kUsage});
        if (const auto* early = std::get_if<pinfold::EarlyExit>(&parsed)) {
            std::fputs(early->text.c_str(), early->status == 0 ? stdout : stderr);
            return early->status;
        }
        return pinfold::ship(std::get<pinfold::ServiceOptions>(parsed).root);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "<3>pinfold-ship: cannot go on: %s\n", error.what());
        return 1;
    }
}
