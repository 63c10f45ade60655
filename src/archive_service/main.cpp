// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers the questions of `pinfold` on a login node from the site's archive of receipts. Reference: pinfold-archive(8).
#include "archive_service/archive_server.hpp"
#include "archive_service/options.hpp"
#include "build_config.hpp"
#include "config/config.hpp"
#include "os/user_database.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <systemd/sd-daemon.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <string>

namespace pinfold {
namespace {

constexpr int kUsage = 2;
constexpr Microseconds kPatienceWithNames = 2s;
// If the configuration is invalid, the service pinfold-archive ends after one second without a connection. When somebody asks the
// archive again, systemd starts a new service, and the new service reads the corrected configuration.
constexpr Microseconds kIdleAfterRefusal = 1s;

std::set<uid_t> auditors() {
    auto members = membersOfGroup("pinfold-audit");
    members.merge(membersOfGroup("pinfold-admin"));
    return members;
}

/// Returns the server that the configuration names. The error has a message for the people who ask the archive.
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

int run(int argc, char** argv) {
    const auto options = parseArchiveServiceOptions(argc, argv);
    if (!options) {
        std::fprintf(stderr, "pinfold-archive: %s\n", options.error().message.c_str());
        return kUsage;
    }
    if (options->help || options->version) {
        std::fputs(options->help ? kArchiveServiceUsage : "pinfold-archive " PINFOLD_VERSION "\n", stdout);
        return 0;
    }
    if (sd_listen_fds(0) != 1) {
        std::fprintf(stderr, "pinfold-archive: systemd has passed no socket: run `systemctl start pinfold-archive.socket`\n");
        return kUsage;
    }
    UniqueFd listener(SD_LISTEN_FDS_START);
    (void)::fcntl(listener.get(), F_SETFL, O_NONBLOCK);
    (void)::fcntl(listener.get(), F_SETFD, FD_CLOEXEC);
    const auto server = configuredServer(options->root);
    if (!server)
        std::fprintf(stderr, "<3>%s\n", server.error().message.c_str());
    Workers workers(server ? *server : PostgresServer{},
                    options->root / std::filesystem::path(PINFOLD_ARCHIVE_SQL).relative_path() / "report");
    const Auditors names(auditors, kPatienceWithNames);
    ArchiveServer(std::move(listener), workers, names, server ? std::nullopt : std::optional(server.error()))
        .serve(server ? options->idle : kIdleAfterRefusal);
    return 0;
}

} // namespace
} // namespace pinfold

int main(int argc, char** argv) {
    // By default, malloc(3) keeps freed pages, and has an arena for each thread. The settings of mallopt(3) reduce the memory
    // that the service takes while nobody asks it.
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
