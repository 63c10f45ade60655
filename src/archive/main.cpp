// SPDX-License-Identifier: LGPL-2.1-or-later
// archive-admin does the work of `pinfold archive`. pinfold executes archive-admin, and passes all arguments on unchanged.
#include "archive/coming_weeks.hpp"
#include "archive/patience.hpp"
#include "archive/role_settings.hpp"
#include "archive/schema.hpp"
#include "archive/schema_files.hpp"
#include "archive/status_query.hpp"
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/archive_options.hpp"
#include "cli/archive_status.hpp"
#include "cli/command_line.hpp"

#include <fmt/core.h>

#include <clocale>
#include <cstdio>
#include <exception>

namespace pinfold {
namespace {

PostgresServer serverOf(const ArchiveOptions& options) {
    return {.host = options.host,
            .port = options.port,
            .database = options.database,
            .user = options.user,
            .certificate = options.certificate,
            .key = options.key,
            .ca = options.ca,
            .applicationName = "pinfold archive"};
}

ExitStatus upgrade(const VerbContext& context, const ArchiveOptions& options, bool isNew) {
    const auto server = serverOf(options);
    const auto files = readSchemaFiles(options.sql);
    if (!files)
        return fail(files.error());
    if (isNew)
        if (auto made = makeDatabase(server); !made)
            return fail(made.error());
    auto connection = PostgresConnection::connect(server, kConnectPatience);
    if (!connection)
        return fail(connection.error());
    const auto done = upgradeSchema(*connection, *files);
    if (!done)
        return fail(done.error());
    if (auto reset = resetRoles(*connection); !reset)
        return fail(reset.error());
    context.terminal.print(done->from == done->to ? fmt::format("The tables of the archive already have version {}.\n", done->to)
                                                  : fmt::format("The tables of the archive now have version {}.\n", done->to));
    return ExitStatus::Ok;
}

void tell(const std::vector<RoleSetting>& settings) {
    for (const auto& [role, setting] : settings)
        std::fprintf(stderr,
                     "pinfold: the role %s has a setting that pinfold did not make: %s. A host that was taken over may "
                     "have made the setting to disturb other hosts. To remove it, run: pinfold archive upgrade\n",
                     role.c_str(), printable(setting, 300).c_str());
}

void tellOfMissingTable(RealTime week, const TableStyle& style) {
    std::fprintf(stderr,
                 "pinfold: the archive has no table for the week that begins at %s, so `pinfold archive prune` has not run for "
                 "weeks. If a week has no table, its receipts go to the table receipt_default, and reports become slow. Start "
                 "pinfold-archive-prune.timer on the server again, or run: pinfold archive prune --older-than 400d\n",
                 tableTime(week, style).c_str());
}

ExitStatus status(const VerbContext& context, PostgresConnection& connection) {
    const auto found = readStatus(connection);
    if (!found)
        return fail(found.error());
    const auto without = weekWithoutTable(connection);
    if (!without)
        return fail(without.error());
    context.terminal.print(context.json ? jsonArchiveStatus(*found) : archiveStatusPage(*found, context.tableStyle()));
    const auto settings = foreignRoleSettings(connection);
    if (!settings)
        return fail(settings.error());
    tell(*settings);
    if (*without)
        tellOfMissingTable(**without, context.tableStyle());
    return found->complete() && settings->empty() && !*without ? ExitStatus::Ok : ExitStatus::Failed;
}

ExitStatus prune(const VerbContext& context, PostgresConnection& connection, Microseconds olderThan) {
    const auto done = connection.run("SELECT pinfold.prune($1::bigint * interval '1 microsecond')",
                                     {std::to_string(toUsec(olderThan))}, kScriptPatience);
    if (!done)
        return fail(done.error());
    const auto removed = parseUnsigned(done->rows.at(0).at(0).value_or(""));
    if (!removed)
        return fail(removed.error());
    context.terminal.print(fmt::format("{} removed\n", counted(*removed, "receipt", "receipts")));
    return ExitStatus::Ok;
}

ExitStatus run(const VerbContext& context, const ArchiveOptions& options) {
    if (options.action == "init" || options.action == "upgrade")
        return upgrade(context, options, options.action == "init");
    if ((options.action == "prune") != options.olderThan.has_value())
        return fail(
            {ErrorCode::InvalidArgument,
             "pinfold archive prune needs --older-than TIME, such as --older-than 400d, and no other action takes this option"});
    auto connection = PostgresConnection::connect(serverOf(options), kConnectPatience);
    if (!connection)
        return fail(connection.error());
    return options.action == "status" ? status(context, *connection) : prune(context, *connection, *options.olderThan);
}

int parseAndRun(int argc, char** argv) {
    auto parsed = parseCommandLine(argc, argv, {makeVerb("archive", kArchiveSummary, archiveOptions, run)});
    if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
        std::fputs(early->text.c_str(), early->status == 0 ? stdout : stderr);
        return early->status;
    }
    const auto& line = std::get<CommandLine>(parsed);
    return static_cast<int>(line.verb.run(VerbContext(line.output)));
}

} // namespace
} // namespace pinfold

int main(int argc, char** argv) {
    std::setlocale(LC_CTYPE, "");
    try {
        const int status = pinfold::parseAndRun(argc, argv);
        return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? status : static_cast<int>(pinfold::ExitStatus::Failed);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pinfold: unexpected error: %s\n", error.what());
        return static_cast<int>(pinfold::ExitStatus::Failed);
    }
}
