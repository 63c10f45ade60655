// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/doctor_host.hpp"

#include "archive_client/archive_client.hpp"
#include "base/bus_names.hpp"
#include "base/clock.hpp"
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "build_config.hpp"
#include "bus_client/node_client.hpp"
#include "config/config.hpp"
#include "doctor/files.hpp"
#include "os/program_output.hpp"
#include "os/trusted_program.hpp"
#include "store/history.hpp"

#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

namespace pinfold {
namespace {

using doctor::Files;
using doctor::GridEngineAnswer;
using doctor::Host;
using Asking = std::function<void(const char* whom)>;

// qconf is a script that starts a program, and the program asks another host. On a busy node, qconf takes longer to answer than a
// service on the bus.
constexpr std::chrono::seconds kQconfPatience{5};
constexpr std::chrono::seconds kExpiryPatience{2};
constexpr Microseconds kArchivePatience = 5s; // if the server is down, pinfold-archive needs up to three seconds to find out
constexpr const char* kUnits[] = {"pinfoldd.service",     "pinfoldd.socket", "batch.slice",          "-.slice",
                                  "systemd-oomd.service", "dbus.service",    "pinfold-ship.service", "pinfold-archive.socket"};

template <class T> std::optional<T> orNone(Result<T> result) { return result ? std::optional(*std::move(result)) : std::nullopt; }

void askUnits(const NodeClient& client, Host& host) {
    for (const char* unit : kUnits) {
        auto properties = client.unit(unit);
        if (!properties) { // if systemd hangs, lookAtHost() does not ask systemd about further units
            host.systemd.reset();
            return;
        }
        host.units.emplace(unit, *std::move(properties));
    }
}

/// Calls pinfoldd, but only if pinfoldd runs. The call must not start pinfoldd, because users often run `pinfold doctor` to
/// find out why pinfoldd does not run.
void askDaemon(const NodeClient& client, Host& host) {
    if (doctor::property(host.unit("pinfoldd.service"), "ActiveState") != "active")
        return;
    auto properties = client.properties(kBusName, kManagerPath, kManagerInterface);
    host.daemonVersion = properties ? Result<std::string>(doctor::property(*properties, "Version")) : properties.error();
}

void askBus(Host& host, const Asking& asking) {
    asking("the system bus");
    const auto client = NodeClient::connect();
    const auto polkit = client ? client->canBeStarted("org.freedesktop.PolicyKit1") : Result<bool>(client.error());
    if (!polkit) {
        host.busError = polkit.error().message;
        return;
    }
    host.polkit = *polkit;
    asking("systemd");
    host.systemd = orNone(client->properties(kSystemdName, kSystemdPath, kSystemdInterface));
    if (host.systemd)
        askUnits(*client, host);
    asking("logind");
    if (const auto there = client->ownerOf("org.freedesktop.login1"); there && *there)
        host.logind =
            orNone(client->properties("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"));
    asking("pinfoldd");
    askDaemon(*client, host);
}

/// Returns a setting such as SGE_ROOT=... from the caller's environment or from Debian's defaults.
std::string gridEngineSetting(const std::string& name, const std::string& otherwise) {
    if (const char* value = std::getenv(name.c_str()); value && *value)
        return value;
    for (const auto& line : doctor::meaningfulLines(Files("/").text("/etc/default/gridengine")))
        if (line.text.starts_with(name + "="))
            return line.text.substr(name.size() + 1);
    return otherwise;
}

void askArchiveService(Host& host, const Asking& asking) {
    if (!host.config || !host.config->config.archive.enabled() || !host.config->config.archive.ask)
        return;
    asking("the archive");
    host.archiveAnswer = tryArchive(kArchivePatience);
    const auto program = std::filesystem::path(host.libexec) / "pinfold-archive";
    if (host.config->config.archive.serverIsSocket() || ::access(program.c_str(), X_OK) != 0)
        return;
    const auto printed = programOutput(program, {"--print-expiry"}, {}, kExpiryPatience);
    const auto seconds = parseUnsigned(printed ? printed->substr(0, printed->find('\n')) : "");
    if (seconds)
        host.certificateExpires = RealTime(std::chrono::seconds(*seconds));
    else
        host.certificateExpires = printed ? seconds.error() : printed.error();
}

void askGridEngine(Host& host, const Asking& asking) {
    const auto top = gridEngineSetting("SGE_ROOT", "/opt/sge");
    const auto found = Files("/").first({"/usr/bin/qconf", top + "/bin/lx-amd64/qconf", top + "/bin/lx-arm64/qconf"});
    if (!found)
        return;
    asking("Grid Engine");
    // If root runs `pinfold doctor`, pinfold must not run a program that the batch system's administrator could have replaced.
    const auto trusted = host.privileged ? trustedProgram(*found) : Result<std::filesystem::path>(*found);
    if (!trusted) {
        host.gridEngine = trusted.error();
        return;
    }
    // On Debian, /usr/bin/qconf is a link to a script. The script works only under the name of the link, so pinfold has to run
    // the link /usr/bin/qconf.
    const auto program = found->parent_path() == "/usr/bin" ? *found : *trusted;
    const std::vector<std::string> environment{"SGE_ROOT=" + top, "SGE_CELL=" + gridEngineSetting("SGE_CELL", "default")};
    auto global = programOutput(program, {"-sconf", "global"}, environment, kQconfPatience);
    if (!global) {
        host.gridEngine = global.error();
        return;
    }
    utsname node{};
    ::uname(&node);
    // If Grid Engine has no separate configuration for the host, qconf reports an error.
    const auto local = programOutput(program, {"-sconf", node.nodename}, environment, kQconfPatience);
    host.gridEngine = GridEngineAnswer{*std::move(global), local ? *local : ""};
}

void lookAtClock(Host& host) {
    host.now = RealClock::now();
    timex clock{};
    if (::adjtimex(&clock) >= 0)
        host.clockSet = (clock.status & STA_UNSYNC) == 0;
    if (!host.privileged)
        return;
    if (const auto history = History::open(kHistoryFile, History::Mode::ReadOnly))
        if (const auto info = history->info())
            host.newestReceipt = info->newest;
}

void lookAtSpace(Host& host) {
    for (const char* directory : {kStateDirectory, "/run"}) {
        struct statvfs status {};
        // Before pinfoldd has started for the first time, the directories of pinfoldd possibly do not exist. If a directory is
        // missing, lookAtSpace() looks at the parent directory, because pinfoldd creates a directory in the file system of the
        // parent directory.
        auto path = std::filesystem::path(directory);
        while (::statvfs(path.c_str(), &status) != 0 && path != path.root_path())
            path = path.parent_path();
        host.space.emplace(directory, doctor::Space{static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize, status.f_files,
                                                    status.f_favail});
    }
}

} // namespace

Host lookAtHost(const Asking& asking) {
    Host host;
    host.privileged = ::geteuid() == 0;
    host.version = PINFOLD_VERSION;
    host.libexec = PINFOLD_LIBEXEC;
    host.config = loadConfig(ConfigPaths::below(host.root));
    utsname kernel{};
    ::uname(&kernel);
    host.kernelRelease = kernel.release;
    askBus(host, asking);
    askGridEngine(host, asking);
    askArchiveService(host, asking);
    lookAtClock(host);
    lookAtSpace(host);
    return host;
}

} // namespace pinfold
