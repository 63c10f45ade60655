// SPDX-License-Identifier: LGPL-2.1-or-later
// /etc/pinfold/pinfold.toml, typed. Reference: pinfold.toml(5).
#pragma once

#include "base/result.hpp"
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
    } daemon;

    struct Jobs {
        std::uint64_t killGrace = 1'000'000;                          ///< kill_grace = "1s": SIGTERM to SIGKILL; 0 to 1 h
        OnFailure onFailure = OnFailure::Refuse;                      ///< on_failure = "refuse" | "run-unconfined"
        bool allowUserJobs = false;                                   ///< allow_user_jobs
        UnenforcedLimits unenforcedLimits = UnenforcedLimits::Refuse; ///< unenforced_limits = "refuse" | "warn"
        std::uint64_t maxPerUser = 10000;                             ///< max_per_user: live jobs of one user
        std::uint64_t maxTasks = 1000;        ///< max_tasks: live tasks of one job besides its batch script
        std::uint64_t maxTasksPerUser = 8000; ///< max_tasks_per_user: of all jobs of one user
        std::uint64_t linger =
            60'000'000;              ///< linger = "60s": a job without batch script after its last task; from 0, or kInfinity
        Slots slots = Slots::Weight; ///< slots = "none" | "weight" | "quota" | "cpus": what a job's slots give it of the CPUs
        std::uint64_t shepherdGrace = 30'000'000; ///< shepherd_grace = "30s": for a shepherd whose job was killed; 0 to 1 h
        /// summary = false | true | "on-failure": the page of `pinfold why` at the end of the job's standard output
        Summary summary = Summary::Never;
    } jobs;

    /// [defaults]: what a job gets that doesn't say; for users' own jobs also the ceiling. Keys as in forEachLimit(), written
    /// the way people write them: memory_max = "4G", cpu_quota = "200%", run_time_max = "12h".
    ResourceLimits defaults;

    /// [devices.NAME] allow = ["/dev/fuse rw"]: what a job with device_profile = "NAME" may open besides the harmless devices.
    std::map<std::string, DeviceRules> devices;

    /// [gpus]: what the node has of them. A node with any lets a job open only those that it got.
    struct Gpus {
        std::vector<DeviceRules>
            devices;                  ///< devices = ["/dev/nvidia0", ["/dev/dri/card0", "/dev/dri/renderD128"]]: one entry a GPU
        DeviceRules common;           ///< common = ["/dev/nvidiactl"]: for each job that has a GPU
        std::vector<std::string> ids; ///< ids = ["GPU-8f3e"]: what the environment calls them; none: 0, 1, ... within the job
        std::vector<std::string> environment{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}; ///< environment = [...]
    } gpus;

    struct AllocationPolicy {
        HyperThreads hyperThreads = HyperThreads::Count; ///< hyper_threads = "count" | "share" | "idle"
    } allocation;

    /// Of the whole, or so many per cent of it, rounded up.
    struct Reserve {
        std::uint64_t amount = 0;
        bool percent = false;

        std::uint64_t of(std::uint64_t whole) const { return percent ? (whole * amount + 99) / 100 : amount; }
        bool operator==(const Reserve&) const = default;
    };
    /// [node]: what batch.slice does not get. Unset: its own settings hold.
    struct Node {
        std::optional<Reserve> memory; ///< reserve_memory = "4G" | "10%"; up to 90%
        std::optional<Reserve> cpus;   ///< reserve_cpus = 2 | "10%": hyper-threads, made up to whole cores; up to 90%
    } node;

    struct LeftoverReport {
        std::uint32_t reportMax = 50; ///< report_max: leftovers named one by one, 0 to 10000; the rest is counted
        CommandLines commandLines = CommandLines::Full; ///< command_lines = "none" | "name" | "full"
    } leftovers;

    /// Which receipts are kept; the oldest go first. kInfinity: no limit. And what happens while none can be written.
    struct HistoryLimits {
        std::uint64_t maxAge = 31'536'000'000'000;        ///< max_age = "365d": microseconds since a job's end, from 1 h
        std::uint64_t maxSize = 1'073'741'824;            ///< max_size = "1G": bytes of history.db in use, from 1 MiB
        std::uint64_t patience = 30'000'000;              ///< patience = "30s": a job waits so long for its receipt; 1 s to 1 h
        HistoryFailure onFailure = HistoryFailure::Drain; ///< on_failure = "drain" | "continue"
    } history;

    StraysConfig strays;

    struct Metrics {
        std::optional<std::filesystem::path> textfile; ///< textfile = "/DIR/NAME.prom"; unset, or "": none is written
        bool perJob = false;                           ///< per_job: series of each live job
    } metrics;

    struct Unkillable {
        std::uint64_t after = 60'000'000; ///< after = "60s": SIGKILL to the report of what outlived it; 1 s to 1 h
        UnkillableAction action = UnkillableAction::None; ///< action = "none" | "comment" | "drain" | "script"
        std::string script;                               ///< script = "/path": absolute; needed for action = "script"
    } unkillable;
};

struct LoadedConfig {
    Config config;
    std::vector<std::filesystem::path> files; ///< in the order read
    std::vector<std::string> warnings;        ///< unknown keys, "file:line:column: …"
};

/// Where configuration is looked for, lowest priority first. The main file is the first that exists from the back; drop-ins
/// of all three directories are merged by file name, the later directory masks the earlier, a link to /dev/null disables.
struct ConfigPaths {
    std::filesystem::path vendor = "/usr/lib/pinfold";
    std::filesystem::path runtime = "/run/pinfold";
    std::filesystem::path admin = "/etc/pinfold";

    static ConfigPaths below(const std::filesystem::path& root);
};

/// Error: ConfigInvalid, "file:line:column: what is wrong, with which value, and what is allowed". No file at all is no error.
Result<LoadedConfig> loadConfig(const ConfigPaths& paths);

} // namespace pinfold
