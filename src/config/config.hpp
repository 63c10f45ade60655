// SPDX-License-Identifier: LGPL-2.1-or-later
// Holds /etc/pinfold/pinfold.toml as typed values. Reference: pinfold.toml(5).
#pragma once

#include "base/clock.hpp"
#include "base/paths.hpp"
#include "base/result.hpp"
#include "config/archive_config.hpp"
#include "config/strays_config.hpp"
#include "model/allocation.hpp"
#include "model/device_rule.hpp"
#include "model/resource_limits.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

enum class OnFailure { Refuse, RunUnconfined };
enum class UnenforcedLimits { Refuse, Warn };
enum class Slots { None, Weight, Quota, Cpus };
enum class CommandLines { None, Name, Full };
enum class UnkillableAction { None, Comment, Drain, Script };
enum class HistoryFailure { Drain, Continue };
enum class Summary { Never, Always, OnFailure };
enum class LogLevel { Debug, Info, Warning, Error };

struct Config {
    struct Daemon {
        LogLevel logLevel = LogLevel::Info; ///< log_level = "debug" | "info" | "warning" | "error"
        std::string cluster;                ///< cluster = "NAME": the name of the site's cluster in receipts; may be ""
    } daemon;

    struct Jobs {
        Microseconds killGrace = 1s;             ///< kill_grace = "1s": time from SIGTERM to SIGKILL; 0 to 1 h
        OnFailure onFailure = OnFailure::Refuse; ///< on_failure = "refuse" | "run-unconfined"
        bool allowUserJobs = false;              ///< allow_user_jobs = true: ordinary users may create jobs
        UnenforcedLimits unenforcedLimits = UnenforcedLimits::Refuse; ///< unenforced_limits = "refuse" | "warn"
        std::uint64_t maxPerUser = 10000;     ///< max_per_user: the maximum number of live jobs of one user
        std::uint64_t maxTasks = 1000;        ///< max_tasks: how many live tasks one job may have besides its batch script
        std::uint64_t maxTasksPerUser = 8000; ///< max_tasks_per_user: how many live tasks all jobs of one user may have
        /// linger = "60s": how long a job that has no batch script lives after its last task has ended; 0 or more, or kForever.
        Microseconds linger = 60s;
        /// slots = "none" | "weight" | "quota" | "cpus": how the number of a job's slots decides the job's share of the CPUs
        Slots slots = Slots::Weight;
        Microseconds shepherdGrace = 30s; ///< shepherd_grace = "30s": how long a shepherd may outlive its killed job; 0 to 1 h
        /// summary = false | true | "on-failure": whether pinfoldd appends the page of `pinfold why` to the job's standard
        /// output
        Summary summary = Summary::Never;
        bool ompNumThreads = false; ///< omp_num_threads = true: pinfoldd adds OMP_NUM_THREADS to the environment of jobs
    } jobs;

    /// [defaults]: the limits of a job, if the request for the job does not set these limits. Ordinary users are not allowed to
    /// give their own jobs higher limits than [defaults] contains. limitTable() contains the names of the keys of [defaults]. A
    /// value has the same form as on the command line, as in memory_max = "4G", cpu_quota = "200%" and run_time_max = "12h".
    ResourceLimits defaults;

    /// [devices.NAME] allow = ["/dev/fuse rw"]: the devices that a job with device_profile = "NAME" may open. In addition to the
    /// devices in `allow`, the job may open harmless devices such as /dev/null.
    std::map<std::string, DeviceRules> devices;

    /// [gpus]: the GPUs of the node. If the configuration has GPUs, a job can open only the GPUs that pinfoldd has given to the
    /// job.
    struct Gpus {
        /// devices = ["/dev/nvidia0", ["/dev/dri/card0", "/dev/dri/renderD128"]]: the device files of the GPUs, with one entry
        /// for each GPU.
        std::vector<DeviceRules> devices;
        DeviceRules common; ///< common = ["/dev/nvidiactl"]: devices for each job that has a GPU
        /// ids = ["GPU-8f3e"]: values that stand for the GPUs in the environment of a job; if empty, 0, 1, ...
        std::vector<std::string> ids;
        /// environment = ["CUDA_VISIBLE_DEVICES"]: the variables that tell the job its GPUs.
        std::vector<std::string> environment{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
    } gpus;

    struct AllocationPolicy {
        HyperThreads hyperThreads = HyperThreads::Count; ///< hyper_threads = "count" | "share" | "idle"
    } allocation;

    /// Says how much of the node's memory or CPUs the site reserves: an amount, or a percentage of the total. A percentage is
    /// rounded up.
    struct Reserve {
        std::uint64_t amount = 0;
        bool percent = false;

        std::uint64_t of(std::uint64_t whole) const { return percent ? (whole * amount + 99) / 100 : amount; }
        bool operator==(const Reserve&) const = default;
    };
    /// [node]: the part of the node that batch.slice does not get. If a key of [node] is unset, the setting in batch.slice's
    /// own unit file applies.
    struct Node {
        // A percentage is at most 90%.
        std::optional<Reserve> memory; ///< reserve_memory = "4G" | "10%": the memory that jobs do not get
        std::optional<Reserve> cpus;   ///< reserve_cpus = 2 | "10%": the hyper-threads (in whole cores) that jobs do not get
    } node;

    struct LeftoverReport {
        std::uint32_t reportMax = 50;                   ///< report_max: how many leftovers pinfoldd names one by one, 0 to 10000
        CommandLines commandLines = CommandLines::Full; ///< command_lines = "none" | "name" | "full"
    } leftovers;

    /// [history]: limits for the receipts in the history, and what pinfoldd does while it cannot write receipts. If the history
    /// has too many receipts, pinfoldd removes the oldest receipts. If maxAge is kInfinity, the age of receipts has no limit. If
    /// maxSize is kInfinity, the size of the history has no limit.
    struct HistoryLimits {
        /// max_age = "365d": the maximum age of a receipt, from the job's end; at least 1 h.
        Microseconds maxAge = 8760h;
        /// max_size = "1G": how much of history.db may be in use; at least 1 MiB.
        std::uint64_t maxSize = 1'073'741'824;
        Microseconds patience = 30s;                      ///< patience = "30s": how long a job waits for its receipt; 1 s to 1 h
        HistoryFailure onFailure = HistoryFailure::Drain; ///< on_failure = "drain" | "continue"
    } history;

    struct Profile {
        /// interval = "30s": how often pinfoldd looks at what the live jobs use; 0 (never), or 5 s to 1 h
        Microseconds interval = 30s;
    } profile;

    /// [idle]: which live jobs count as idle
    struct Idle {
        Microseconds since = 1h; ///< since = "1h": the time over which pinfold judges what a job uses; 1 min to 30 days
        /// share = "10%": a job is idle if it uses less than this share of the CPUs that it holds; 1 to 100 percent
        std::uint32_t share = 10;
        /// memory_share = "10%": a job is idle if it needs less than this share of its memory limit; 1 to 100 percent
        std::uint32_t memoryShare = 10;
    } idle;

    ArchiveConfig archive;

    StraysConfig strays;

    struct Metrics {
        std::optional<std::filesystem::path> textfile; ///< textfile = "/DIR/NAME.prom"; if unset or "", pinfoldd writes no file
        bool perJob = false;                           ///< per_job: whether the file has figures of each live job
    } metrics;

    struct Unkillable {
        /// after = "60s": time from SIGKILL to the report about processes that have not ended; 1 s to 1 h.
        Microseconds after = 60s;
        UnkillableAction action = UnkillableAction::None; ///< action = "none" | "comment" | "drain" | "script"
        std::string script; ///< script = "/path": the program for action = "script", as an absolute path
    } unkillable;
};

struct LoadedConfig {
    Config config;
    std::vector<std::filesystem::path> files; ///< the files in the order in which loadConfig() read them
    std::vector<std::string> warnings;        ///< warnings about unknown keys, "file:line:column: …"
};

/// Names the directories in which loadConfig() looks for the configuration. In ConfigPaths, the first directory has the lowest
/// priority, and the last directory has the highest priority. If several directories have a main file, loadConfig() reads only
/// the main file of the directory with the highest priority. loadConfig() reads the drop-ins of all directories. If two
/// directories have drop-ins with the same name, loadConfig() reads only the drop-in with the higher priority. A link to
/// /dev/null disables a drop-in.
struct ConfigPaths {
    std::filesystem::path vendor = "/usr/lib/pinfold";
    std::filesystem::path runtime = kRuntimeDirectory;
    std::filesystem::path admin = kConfigDirectory;

    static ConfigPaths below(const std::filesystem::path& root);
};

/// Loads the configuration. The message of the error ConfigInvalid begins with "file:line:column:". The message contains the
/// wrong value, and says what is wrong and which values are allowed. If no file of the configuration exists, loadConfig()
/// returns no error.
Result<LoadedConfig> loadConfig(const ConfigPaths& paths);

} // namespace pinfold
