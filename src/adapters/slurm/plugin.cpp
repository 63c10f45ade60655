// SPDX-License-Identifier: LGPL-2.1-or-later
// slurmd and slurmstepd load this plugin. Between fork and exec of a task, the plugin puts the task's process into the job.
// Between fork and exec, Slurm has already set up the task's process, and the process waits for its start. The plugin code runs
// as root in slurmstepd: if it fails, the launch fails and Slurm requeues the job. If the plugin used a hook in the child
// process instead, a failure of the hook would look like a failure of the user's program.
#include "adapters/slurm/step.hpp"

#include "os/read_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <string>

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

constexpr int kFailed = -1; // some of SPANK's callers take a value above 0 for a success

/// No exception may reach Slurm.
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

SlurmTask describe(spank_t spank) {
    SlurmTask task;
    task.jobId = item<std::uint32_t>(spank, S_JOB_ID, 0);
    task.stepId = item<std::uint32_t>(spank, S_JOB_STEPID, 0);
    task.owner = item<uid_t>(spank, S_JOB_UID, static_cast<uid_t>(-1));
    task.memory = item<std::uint64_t>(spank, S_JOB_ALLOC_MEM, 0);
    if (const auto* cores = item<char*>(spank, S_JOB_ALLOC_CORES, nullptr))
        task.cores = cores;
    return task;
}

/// Requeues the job if the job runs. If the owner has cancelled the job meanwhile, the job must not come back.
void requeue(std::uint32_t jobId) {
    if (slurm_requeue(jobId, JOB_RUNNING) != SLURM_SUCCESS)
        slurm_error("pinfold: job %u is not requeued: %s", jobId, slurm_strerror(errno));
}

int join(spank_t spank, pid_t process) {
    const auto task = describe(spank);
    const auto number = item(spank, S_TASK_ID, 0);
    const auto cgroups = readFile(AT_FDCWD, ("/proc/" + std::to_string(process) + "/cgroup").c_str());
    if (cgroups && slurmContains(*cgroups)) {
        if (number == 0) // the first task logs this, so that each step logs it once
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

int slurm_spank_task_post_fork(spank_t spank, int, char*[]) {
    const auto process = item<pid_t>(spank, S_TASK_PID, 0);
    if (process <= 0)
        return 0; // this is the "extern" step, which has no process of the user
    // The hook does not report its failure to slurmstepd. If the hook reported its failure, slurmstepd would not wait for any
    // child process, and would say that the batch script exited with 0.
    if (guarded([&] { return join(spank, process); }) != 0)
        ::kill(process, SIGKILL);
    return 0;
}

int slurm_spank_task_exit(spank_t spank, int, char*[]) {
    return guarded([&] { return over(spank); });
}
}
