// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/shepherd.hpp"

#include "adapters/grid_engine/node.hpp"
#include "base/parse.hpp"
#include "base/unique_fd.hpp"
#include "os/topology.hpp"

#include <sys/inotify.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string_view>

namespace pinfold {
namespace {

std::uint64_t secondsNow() { return static_cast<std::uint64_t>(::time(nullptr)); }

/// Returns an inotify descriptor. The descriptor becomes readable when a program has written and closed a file in the working
/// directory.
int watchWorkingDirectory() {
    const int fd = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd >= 0)
        (void)::inotify_add_watch(fd, ".", IN_CLOSE_WRITE | IN_ONLYDIR);
    return fd;
}

bool wroteFile(int watch, std::string_view name) {
    alignas(inotify_event) std::array<char, 4096>
        buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): read(2) fills the buffer
    bool wrote = false;
    for (ssize_t length = 0; (length = ::read(watch, buffer.data(), buffer.size())) > 0;)
        for (ssize_t at = 0; at < length;) {
            const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
            wrote = wrote || (event->len > 0 && event->name == name);
            at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        }
    return wrote;
}

} // namespace

Shepherd::Shepherd(int argc, char** argv)
    : admin_(::geteuid()), command_(argv, argv + argc), started_(secondsNow()), spool_(admin_), suspension_(job_, spool_) {
    // After a restart, sge_execd finds its shepherds in the list of processes by the name "sge_shepherd".
    ::prctl(PR_SET_NAME, "sge_shepherd");
}

int Shepherd::run() {
    if (::seteuid(0) != 0)
        // Only a sge_execd that runs as root can start grid-engine-shepherd.
        return static_cast<int>(GridEngineVerdict::NodeFailed);
    if (auto read = readJob(); !read)
        return putBack(verdictOn(read.error().code), read.error().message);
    makeCommand();
    const int status = Supervisor(wrapped_, duties()).run();
    if (status >= kRunFailed && spool_.read("exit_status").value_or("").empty())
        return putBack(GridEngineVerdict::NodeFailed, program_ + " cannot be run as a process of its own");
    return status;
}

Result<void> Shepherd::readJob() {
    const auto config = spool_.read("config");
    if (!config)
        return Error{ErrorCode::Internal, "there is no file 'config' in " + spool_.path()};
    auto job = readGridEngineJob(spool_.path(), GridEngineConfig::parse(*config));
    if (!job)
        return job.error();
    job_ = *std::move(job);
    const auto environment = GridEngineConfig::parse(spool_.read("environment").value_or(""));
    addFromSpool(job_.identity, environment, spool_.read("pe_hostfile").value_or(""));
    job_.limits.batchRunTimeMax = gridEngineRunTimeMax(environment);
    auto owner = findOwner(job_.owner);
    if (!owner)
        return owner.error();
    owner_ = *std::move(owner);
    auto program = findRealShepherd();
    if (!program)
        return program.error();
    program_ = *std::move(program);
    return {};
}

void Shepherd::makeCommand() {
    // sge_execd passes no argument to a shepherd_cmd. The real shepherd needs the argument "-bg". Without "-bg", the real
    // shepherd would write to standard error.
    static std::string background = "-bg";
    if (command_.size() == 1)
        command_.push_back(background.data());
    command_.push_back(nullptr);
    wrapped_.command = command_.data();
    wrapped_.program = program_.c_str();
    wrapped_.request = {.key = job_.key,
                        .limits = job_.limits,
                        .role = job_.slaveTask ? WrapperRole::TaskOfOpen : WrapperRole::Job,
                        .owner = owner_.uid,
                        .slots = job_.slots,
                        .shepherd = true,
                        .identity = job_.identity};
    if (job_.cores.empty())
        return;
    // If pinfold cannot find the cores, only the shepherd's own binding applies.
    if (const auto topology = readTopology())
        if (auto cpus = cpusOf(job_.cores, *topology); !cpus.empty())
            wrapped_.request.allocation.cpuList = std::move(cpus);
}

SupervisorDuties Shepherd::duties() {
    SupervisorDuties duties;
    duties.inChild = [this] { becomeAdmin(); };
    duties.passOn = [this](int signal) { return suspension_.passOn(signal); };
    duties.notStarted = [this](const Error& why) { return putBack(verdictOn(why.code), why.message); };
    duties.exitOfJob = [this](const ExitState& own) { return exitFromUsage(spool_.read("usage").value_or("")).value_or(own); };
    duties.over = [this](const WrapperReply& words, const ExitState& exit) { report(words, exit); };
    duties.wantsReceipt = true;
    duties.hasJobsOutput = false;
    duties.watch = watchWorkingDirectory();
    duties.watched = [this, watch = duties.watch] { return !wroteFile(watch, "pid") || !nameUsAsTheShepherd(); };
    return duties;
}

void Shepherd::becomeAdmin() const {
    if (::seteuid(admin_) != 0)
        ::_exit(kRunFailed);
}

/// Writes grid-engine-shepherd's own process id into the file "pid" of the spool directory. After a restart, sge_execd sends
/// signals to the process in the file "pid". When the process in the file "pid" ends, sge_execd frees the job's slot. The file
/// "pid" must not name the real shepherd. The real shepherd freezes together with the job, and ends before the job is over.
bool Shepherd::nameUsAsTheShepherd() {
    if (spool_.read("pid").value_or("").empty())
        return false;
    // If pinfold cannot write the file "pid", sge_execd behaves as if pinfold were not installed.
    (void)spool_.write("pid", std::to_string(::getpid()) + "\n");
    return true;
}

void Shepherd::report(const WrapperReply& words, const ExitState& exit) {
    const auto receipt = words.receipt ? *words.receipt : Receipt{};
    // The real shepherd writes the file exit_status last. If the file exit_status is missing, something killed the real shepherd
    // before the real shepherd could write the file.
    if (exit.signal && spool_.read("exit_status").value_or("").empty()) {
        (void)spool_.write("error", "pinfold: " + causeOfKilled(*exit.signal, receipt) + "\n");
        if (spool_.read("usage").value_or("").empty())
            (void)spool_.write("usage", usageOfKilled(*exit.signal, started_, secondsNow()));
        (void)spool_.write("exit_status", std::to_string(static_cast<int>(GridEngineVerdict::AfterJob)) + "\n");
    }
    if (const auto usage = spool_.read("usage"); usage && words.receipt)
        if (const auto better = usageWithReceipt(*usage, receipt); better != *usage)
            (void)spool_.write("usage", better);
    addToJobsOutput(owner_, job_.output, words.notice);
}

/// Tells sge_execd why the job did not run, and returns the exit status. putBack() writes the file exit_status last, as the real
/// shepherd does. sge_execd trusts the file exit_status more than the exit status of grid-engine-shepherd. If putBack() cannot
/// write the file exit_status, sge_execd uses the exit status of grid-engine-shepherd.
int Shepherd::putBack(GridEngineVerdict verdict, const std::string& why) {
    const auto status = static_cast<int>(verdict);
    (void)spool_.write("error", "pinfold: " + why + "\n");
    (void)spool_.write("exit_status", std::to_string(status) + "\n");
    return status;
}

} // namespace pinfold
