// SPDX-License-Identifier: LGPL-2.1-or-later
// slurmd and slurmstepd load pinfold's plugin. Between fork and exec of a task, the plugin puts the task's process into the job.
// Slurm has set up the task's process before the plugin puts the process into the job. slurmstepd does not let the process
// continue before the plugin has returned. slurm_spank_task_post_fork() runs as root in slurmstepd's own process. If
// slurm_spank_task_post_fork() fails, the launch of the task fails, and Slurm requeues the job. If a hook in the child process
// failed, the failure would look like a failure of the user's program.
#include "adapters/slurm/step.hpp"

#include "os/read_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/spank.h>

extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(pinfold, 1)
}

namespace {

using namespace pinfold;

// SPANK offers no place to keep data from one call to the next. slurmstepd calls the plugin in one thread only, so a global
// object is safe.
Step step;

static_assert(kSlurmBatchStep == SLURM_BATCH_SCRIPT);

constexpr int kFailed = -1; // some callers of SPANK's functions treat a value above 0 as a success

/// Calls `hook` and catches its exceptions, because an exception must not pass through Slurm's C code.
template <class F> int guarded(F&& hook) noexcept {
    try {
        return hook();
    } catch (const std::exception& error) {
        slurm_error("pinfold: %s", error.what());
        return kFailed;
    }
}

template <class T> T item(spank_t spank, spank_item_t which, T otherwise) {
    T value = otherwise;
    return spank_get_item(spank, which, &value) == ESPANK_SUCCESS ? value : otherwise;
}

std::string variableOf(spank_t spank, const char* name) {
    std::array<char, 4096> value{};
    return spank_getenv(spank, name, value.data(), static_cast<int>(value.size())) == ESPANK_SUCCESS ? value.data() : "";
}

/// Returns the group id of the job as a decimal number. pinfoldd looks up the group's name. If slurmstepd looked up the name, a
/// slow server of the group database would delay the job. By default, slurmstepd itself does not ask the databases
/// (slurm.conf(5), disable_send_gids).
std::string groupOf(spank_t spank) {
    gid_t gid = 0;
    return spank_get_item(spank, S_JOB_GID, &gid) == ESPANK_SUCCESS ? std::to_string(gid) : "";
}

/// Returns the facts that pinfoldd stores in the job's receipt. On a node without the job's batch script, slurmd passes the
/// account, the partition and the nodes to the epilogue, but not to a task.
JobIdentity identify(spank_t spank, std::uint32_t stepId) {
    const auto variable = [spank](const char* name) { return variableOf(spank, name); };
    auto identity = slurmIdentity({.arrayJob = item<std::uint32_t>(spank, S_JOB_ARRAY_ID, 0),
                                   .arrayTask = item<std::uint32_t>(spank, S_JOB_ARRAY_TASK_ID, 0),
                                   .restarts = item<std::uint32_t>(spank, S_SLURM_RESTART_COUNT, NO_VAL),
                                   .group = groupOf(spank)},
                                  variable);
    if (stepId == SLURM_BATCH_SCRIPT)
        complete(identity, slurmdIdentity(variable));
    return identity;
}

SlurmTask describe(spank_t spank) {
    SlurmTask task;
    task.jobId = item<std::uint32_t>(spank, S_JOB_ID, 0);
    task.stepId = item<std::uint32_t>(spank, S_JOB_STEPID, 0);
    task.owner = item<uid_t>(spank, S_JOB_UID, static_cast<uid_t>(-1));
    task.memory = item<std::uint64_t>(spank, S_JOB_ALLOC_MEM, 0);
    if (const auto* cores = item<char*>(spank, S_JOB_ALLOC_CORES, nullptr))
        task.cores = cores;
    task.identity = identify(spank, task.stepId);
    return task;
}

/// Requeues the job if the job is running. A job that the owner has just cancelled must not go back into the queue.
void requeue(std::uint32_t jobId) {
    if (slurm_requeue(jobId, JOB_RUNNING) != SLURM_SUCCESS)
        slurm_error("pinfold: job %u is not requeued: %s", jobId, slurm_strerror(errno));
}

int join(spank_t spank, pid_t process) {
    const auto task = describe(spank);
    const auto number = item(spank, S_TASK_ID, 0);
    const auto cgroups = readFile(AT_FDCWD, ("/proc/" + std::to_string(process) + "/cgroup").c_str());
    if (cgroups && slurmContains(*cgroups)) {
        if (number == 0) // only the first task of a step logs the message
            slurm_info("pinfold: Slurm uses cgroups of its own for job %u, so pinfold leaves the job alone", task.jobId);
        return 0;
    }
    const auto joined = step.join(number, process, task);
    if (joined)
        return 0;
    slurm_error("pinfold: job %u does not run without a scope: %s", task.jobId, joined.error().message.c_str());
    if (task.stepId == SLURM_BATCH_SCRIPT)
        requeue(task.jobId);
    return kFailed;
}

/// Hands the standard error of the batch script over to pinfoldd. pinfoldd treats the request of handOver() as a repetition of
/// join()'s request, because both requests have the same leader. If the request fails, the job continues without pinfoldd's lines
/// in its output.
int handOver(spank_t spank) {
    const auto jobId = item<std::uint32_t>(spank, S_JOB_ID, 0);
    if (item<std::uint32_t>(spank, S_JOB_STEPID, 0) != SLURM_BATCH_SCRIPT)
        return 0;
    const auto cgroups = readFile(AT_FDCWD, "/proc/self/cgroup");
    if (!cgroups || !isInBatchScope(*cgroups, jobId))
        return 0; // the batch script is not in a scope of pinfold
    if (const auto done = handOverOutput(slurmKey(jobId)); !done)
        slurm_info("pinfold: job %u gets no warnings in its output: %s", jobId, done.error().message.c_str());
    return 0;
}

/// Sets and removes variables in the environment that the user's program will get.
int setVariables(spank_t spank) {
    const auto isSet = [spank](const char* name) {
        std::array<char, 1> value{}; // spank_getenv() finds a variable even if the value is longer than the buffer
        return spank_getenv(spank, name, value.data(), static_cast<int>(value.size())) != ESPANK_ENV_NOEXIST;
    };
    for (const auto& [name, value] : environmentChanges(step.variables(), isSet))
        value ? spank_setenv(spank, name.c_str(), value->c_str(), 1) : spank_unsetenv(spank, name.c_str());
    return 0;
}

void tell(const std::string& text) {
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        slurm_spank_log("%s", text.substr(start, end - start).c_str());
        start = end + 1;
    }
}

int over(spank_t spank) {
    const auto status = item<int>(spank, S_TASK_EXIT_STATUS, 0);
    const auto words = step.over(item(spank, S_TASK_ID, 0), exitFromWaitStatus(static_cast<std::uint32_t>(status)));
    if (words)
        tell(*words);
    else
        slurm_error("pinfold: job %u: %s", item<std::uint32_t>(spank, S_JOB_ID, 0), words.error().message.c_str());
    return 0;
}

} // namespace

extern "C" {

/// slurmstepd calls slurm_spank_user_init() before it forks the processes of the tasks. If slurm_spank_user_init() fails, the job
/// continues, but the tasks get no variables from pinfold.
int slurm_spank_user_init(spank_t, int, char*[]) {
    return guarded([] {
        if (const auto prepared = step.prepare(); !prepared)
            slurm_info("pinfold: the tasks of this step get no variables: %s", prepared.error().message.c_str());
        return 0;
    });
}

int slurm_spank_task_post_fork(spank_t spank, int, char*[]) {
    const auto process = item<pid_t>(spank, S_TASK_PID, 0);
    if (process <= 0)
        return 0; // the "extern" step has no process of the user
    // The hook does not report its failure to slurmstepd. If the hook reported a failure, slurmstepd would not wait for any child
    // process, and would say that the batch script exited with 0.
    if (guarded([&] { return join(spank, process); }) != 0)
        ::kill(process, SIGKILL);
    return 0;
}

/// Runs in the process of the task, as the user, right before the exec. slurm_spank_task_init() hands the standard error of the
/// process over to pinfoldd. slurm_spank_task_init_privileged() could not do this work, because Slurm has not yet set up the
/// standard error when slurm_spank_task_init_privileged() runs.
int slurm_spank_task_init(spank_t spank, int, char*[]) {
    (void)guarded([&] { return setVariables(spank); });
    (void)guarded([&] { return handOver(spank); });
    return 0;
}

int slurm_spank_task_exit(spank_t spank, int, char*[]) {
    return guarded([&] { return over(spank); });
}
}
