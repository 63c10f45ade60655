// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads receipts from the site's archive, and answers the questions of a `pinfold` that runs on a login node. Reference:
// pinfold-archive(8).
#include "archive_service/archive_server.hpp"
#include "base/parse.hpp"
#include "base/service_options.hpp"
#include "build_config.hpp"
#include "config/config.hpp"
#include "os/descriptor_closer.hpp"
#include "os/sd_event_loop.hpp"
#include "os/subordinate_users.hpp"
#include "os/thread_background.hpp"
#include "os/user_database.hpp"
#include "postgres/certificate.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <systemd/sd-daemon.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

namespace pinfold {
namespace {

constexpr const char* kUsage =
    "Usage: pinfold-archive [--root DIR] [--exit-idle-time TIME]\n"
    "       pinfold-archive [--root DIR] --print-expiry\n"
    "\n"
    "Answers the questions of pinfold on this host from the site's archive of receipts. systemd starts it:\n"
    "  systemctl enable --now pinfold-archive.socket\n"
    "\n"
    "  --root DIR              put DIR before all paths of the configuration, for tests\n"
    "  --exit-idle-time TIME   exit after this time without a connection (default 5min)\n"
    "  --print-expiry          print when the certificate of this host expires, in seconds since 1970, and exit\n"
    "  --help                  show this help\n"
    "  --version               show the version\n"
    "\n"
    "See pinfold-archive(8), pinfold.toml(5).\n";

constexpr int kNoSocket = 2; // the exit status if systemd has passed no socket
constexpr Microseconds kPatienceWithNames = 2s;
constexpr Microseconds kPatienceWithFile = 2s;
// If the configuration is invalid, the service pinfold-archive exits as soon as no client has been connected for one second. When
// somebody asks the archive again, systemd starts a new service, and the new service reads the corrected configuration.
constexpr Microseconds kIdleAfterRefusal = 1s;

// Only one thread of the process is allowed to use the user database at a time. The mutex is global, because a thread can still
// hold the mutex when main() returns.
std::mutex userDatabase;

/// `look` is a function of os/user_database.hpp. Returns a function that never calls `look` in two threads at the same time.
/// Several threads can call the returned function at the same time.
template <class Found, class What> auto oneAtATime(Found (*look)(What)) {
    return [look](What what) {
        const std::lock_guard lock(userDatabase);
        return look(what);
    };
}

std::set<uid_t> auditors() {
    const std::lock_guard lock(userDatabase);
    auto members = membersOfGroup("pinfold-audit");
    members.merge(membersOfGroup("pinfold-admin"));
    return members;
}

/// Returns the server that the configuration names. If configuredServer() fails, the users who ask the archive see the error
/// message.
Result<PostgresServer> configuredServer(const std::filesystem::path& root) {
    const auto loaded = loadConfig(ConfigPaths::below(root));
    if (!loaded)
        return Error{ErrorCode::Unreachable,
                     "the archive of receipts is not reachable: its service has no valid configuration: " +
                         loaded.error().message};
    const auto& archive = loaded->config.archive;
    if (!archive.enabled())
        return Error{ErrorCode::Unreachable, "the archive of receipts is not reachable: the configuration of this host names no "
                                             "server: set archive.server in /etc/pinfold/pinfold.toml"};
    return PostgresServer{.host = archive.server,
                          .port = archive.port,
                          .database = archive.database,
                          .user = "pinfold_reader",
                          .certificate = archive.certificate,
                          .key = archive.key,
                          .ca = archive.ca,
                          .applicationName = "pinfold-archive"};
}

int printExpiry(const std::filesystem::path& root) {
    const auto server = configuredServer(root);
    const auto certificate = server ? readCertificate(server->certificate) : Result<Certificate>(server.error());
    if (!certificate) {
        std::fprintf(stderr, "pinfold-archive: %s\n", certificate.error().message.c_str());
        return 1;
    }
    const auto expires = std::chrono::duration_cast<std::chrono::seconds>(certificate->expires.time_since_epoch());
    std::printf("%lld\n", static_cast<long long>(expires.count()));
    return 0;
}

void logError(const std::string& line) { std::fprintf(stderr, "<3>%s\n", line.c_str()); }

/// Waits until the object `subordinates` has read /etc/subuid, but at most for the time kPatienceWithFile. When the service
/// starts, connections of subordinate ids possibly wait at the archive's socket. The server counts a connection of a subordinate
/// id as a connection of the id's owner. The file /etc/subuid says who owns a subordinate id.
void lookFirst(SubordinateUsers& subordinates, SdEventLoop& loop) {
    subordinates.look();
    const auto deadline = after(MonotonicClock::now(), kPatienceWithFile);
    while (!subordinates.hasLooked() && MonotonicClock::now() < deadline)
        (void)loop.turn(timeBetween(MonotonicClock::now(), deadline));
}

int run(int argc, char** argv) {
    Microseconds idle = 5min; // how long the service waits for a connection before it exits
    const auto setIdle = [&idle](const std::string& text) -> Result<void> {
        const auto time = parseDuration(text);
        idle = time ? *time : idle;
        return time ? Result<void>() : time.error();
    };
    bool onlyExpiry = false;
    const auto setExpiry = [&onlyExpiry](const std::string&) -> Result<void> {
        onlyExpiry = true;
        return {};
    };
    const auto parsed = parseServiceOptions(
        argc, argv,
        {.name = "pinfold-archive",
         .usage = kUsage,
         .options = {{"exit-idle-time", setIdle}, {.name = "print-expiry", .set = setExpiry, .takesValue = false}}});
    if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
        std::fputs(early->text.c_str(), early->status == 0 ? stdout : stderr);
        return early->status;
    }
    const auto& root = std::get<ServiceOptions>(parsed).root;
    if (onlyExpiry)
        return printExpiry(root);
    if (sd_listen_fds(0) != 1) {
        std::fprintf(stderr, "pinfold-archive: systemd has passed no socket: run `systemctl start pinfold-archive.socket`\n");
        return kNoSocket;
    }
    UniqueFd listener(SD_LISTEN_FDS_START);
    (void)::fcntl(listener.get(), F_SETFL, O_NONBLOCK);
    (void)::fcntl(listener.get(), F_SETFD, FD_CLOEXEC);
    const auto server = configuredServer(root);
    if (!server)
        logError(server.error().message);
    Workers workers(server ? *server : PostgresServer{},
                    root / std::filesystem::path(PINFOLD_ARCHIVE_SQL).relative_path() / "report");
    const Auditors names(auditors, kPatienceWithNames);
    SdEventLoop loop(logError);
    ThreadBackground background(loop);
    DescriptorCloser closer(background);
    SubordinateUsers subordinates({loop, background, root / "etc/subuid", oneAtATime(findUser), oneAtATime(nameOfUser),
                                   [](const std::string&) {}, logError});
    lookFirst(subordinates, loop);
    ArchiveServer(std::move(listener), {.workers = workers,
                                        .auditors = names,
                                        .loop = loop,
                                        .closer = closer,
                                        .countsAs = [&subordinates](uid_t uid) { return subordinates.userOf(uid); },
                                        .refusal = server ? std::nullopt : std::optional(server.error())})
        .serve(server ? idle : kIdleAfterRefusal);
    background.forget();
    return 0;
}

} // namespace
} // namespace pinfold

int main(int argc, char** argv) {
    // By default, malloc(3) keeps freed pages, and has an arena for each thread. The settings of mallopt(3) reduce the memory
    // that an idle service takes.
    ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    ::mallopt(M_TRIM_THRESHOLD, 128 * 1024);
    ::mallopt(M_ARENA_MAX, 2);
    try {
        return pinfold::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "<3>pinfold-archive: cannot start: %s\n", error.what());
        return 1;
    }
}
