// SPDX-License-Identifier: LGPL-2.1-or-later
#include "golden_samples.hpp"

#include "model/hosts_of_job.hpp"
#include "model/job_key.hpp"

namespace pinfold::golden {
namespace {

JobInfo job(const std::string& key, ShownState state, uid_t uid, Microseconds age) {
    const auto parsed = *JobKey::parse(key);
    JobInfo info;
    info.key = key;
    info.state = state;
    info.uid = uid;
    info.slice = parsed.sliceName();
    info.unit = parsed.scopeName(0);
    info.created = kNow - age;
    info.leader = 4711;
    info.tasks = 1;
    return info;
}

Receipt receipt(const std::string& key, uid_t uid, JobResult result, Microseconds wall) {
    Receipt receipt;
    receipt.id = "3f0e";
    receipt.key = key;
    receipt.uid = uid;
    receipt.started = kNow - 2 * wall;
    receipt.ended = kNow - wall;
    receipt.wall = wall;
    receipt.result = result;
    return receipt;
}

StrayRow stray(pid_t pid, uid_t uid, StrayKind kind, const std::string& unit, const std::string& command) {
    StrayRow row;
    row.pid = pid;
    row.uid = uid;
    row.kind = kind;
    row.hasJob = false;
    row.age = 3700s;
    row.cpu = 95s;
    row.rss = 300 * kMiB;
    row.parent = 1;
    row.unit = unit;
    row.cgroup = "/user.slice/" + unit;
    row.command = command;
    return row;
}

} // namespace

std::vector<JobInfo> jobs() {
    auto array = job("slurm.123456_789", ShownState::Suspended, kUser, 90'061s);
    array.tasks = 16;
    auto opened = job("pbs.1234567[89].server-of-the-site.example.org", ShownState::Ending, 0, 61s);
    opened.leader.reset();
    opened.unkillableSince = kNow - 30s;
    return {job("sge.4711", ShownState::Running, 0, 5s), array, opened};
}

std::vector<JobProcess> processes() {
    return {{4711, 0, 0, kNow - 1h, 61s, 20 * kMiB, "S", {}, "/bin/bash /var/spool/sge/node7/job_scripts/4711"},
            {4712, 0, kUser, kNow - 200 * 24h, 123456ms, 1536 * kMiB, "D", "fuse_dentry_revalidate",
             "./simulate --steps 1000000 --input /home/alice/a/long/path/to/the/input.h5"}};
}

NodeStatus node() {
    NodeStatus node{.version = "1.2.3", .jobs = jobs(), .drain = Drain{.reason = "new disk", .since = kNow, .by = 0}};
    node.resources.cpus = withFree({.total = 64'000'000, .kept = 2'000'000, .given = 17'500'000, .unlimitedJobs = 1});
    node.resources.memory = withFree({.total = 256 * 1024 * kMiB, .given = 100 * 1024 * kMiB, .unlimitedJobs = 2});
    node.resources.gpus = withFree({.total = 4, .given = 1});
    node.lastErrors = {
        {.time = kNow - 2h, .isError = false, .message = "job slurm.12: its record cannot be removed: Read-only file system"},
        {.time = kNow,
         .isError = true,
         .message = "receipts cannot be written: No space left on device; pinfoldd keeps "
                    "them in /run/pinfold/receipts and writes them when it can"}};
    return node;
}

ResourceLimits limits() {
    ResourceLimits limits;
    limits.memoryMax = 1024 * kMiB;
    limits.cpuQuota = 1'500'000;
    limits.allowedCpus = *CpuList::parse("0-3,8");
    limits.tasksMax = 50;
    limits.ioReadBandwidthMax =
        *DeviceAmounts::parse("/dev/sda 10M,/dev/disk/by-id/nvme-a-long-name-of-a-disk-S4EVNX0R500123 100M");
    limits.runTimeMax = toUsec(2h);
    limits.killSignal = 10;
    return limits;
}

JobIdentity identity() {
    return {.jobName = "<img src=x onerror=alert(1)>",
            .account = "physics",
            .queue = "batch.q",
            .project = "quarks",
            .group = "users",
            .arrayJob = 4711,
            .arrayTask = 3,
            .run = 1,
            .submitHost = "login1",
            .submitDirectory = "/home/alice/run 3",
            .nodes = {"node7", "node8"},
            .nodeCount = 7,
            .labels = {{"dataset", "v2"}, {"project", "x=y"}}};
}

JobDetail detail() {
    JobDetail detail;
    detail.job = jobs()[0];
    detail.limits = limits();
    detail.limitsNotEnforced = {"tasks_max", "io_read_bandwidth_max"};
    detail.allocation.cpus = *CpuList::parse("0-3,8");
    detail.allocation.environment = {{"OMP_NUM_THREADS", "5"}};
    detail.slots = 4;
    detail.identity = identity();
    detail.usage.emplace();
    detail.usage->cpuUser = 60s;
    detail.usage->cpuSystem = 1s;
    detail.usage->memoryCurrent = 500 * kMiB;
    detail.usage->memoryAnon = 350 * kMiB;
    detail.usage->memoryShmem = 50 * kMiB;
    detail.usage->memoryFile = 150 * kMiB;
    detail.usage->memoryNeed = 600 * kMiB;
    detail.usage->memoryPeak = 900 * kMiB;
    detail.usage->tasksCurrent = 3;
    detail.usage->ioDevices = {{"8:0", 1, 2, 3, 4}};
    detail.processes = processes();
    return detail;
}

std::vector<JobDetail> details() {
    std::vector<JobDetail> details;
    for (const auto& job : jobs())
        details.push_back({.job = job});
    details.front() = detail();
    details.front().allocation.gpus = *CpuList::parse("1");
    return details;
}

std::vector<Receipt> receipts() {
    auto whole = receipt("sge.4711", 0, JobResult::Exited, 1h);
    whole.exit.status = 3;
    whole.tasks = 2;
    whole.usage = *detail().usage;
    whole.usage.tasksPeak = 12;
    whole.limits = limits();
    whole.slots = 4;
    whole.limitsNotEnforced = {"tasks_max", "io_read_bandwidth_max"};
    whole.leftovers = {2, 7s, {"sleep 1000", "/usr/bin/python3 -m http.server"}};
    whole.unkillableProcesses = 2;
    whole.sequence = 4711;
    whole.epoch = "5f3a9c0b1d2e4f60";
    whole.origin = {.host = "node7",
                    .bootId = "0f8fad5b-d9cb-469f-a165-70867728950e",
                    .cluster = "blue",
                    .user = "alice",
                    .version = "0.1.0"};
    whole.slots = 4;
    whole.identity = identity();
    whole.taskList = {{.kind = TaskKind::Batch,
                       .command = "4711",
                       .started = whole.started,
                       .ended = whole.ended,
                       .exit = whole.exit,
                       .cpu = 40s,
                       .memoryPeak = 700 * kMiB,
                       .exact = true},
                      {.number = 1,
                       .kind = TaskKind::Login,
                       .command = "sshd",
                       .started = whole.started + 5min,
                       .ended = whole.ended,
                       .cpu = 21s}};
    auto killed = receipt("slurm.123456_789", kUser, JobResult::OutOfMemory, 90'061s);
    killed.exit.signal = 9;
    killed.usage.cpuUser = 24h;
    killed.usage.cpuSystem = 3661s;
    killed.usage.memoryPeak = 48 * kMiB;
    killed.usage.memoryNeed = 45 * kMiB;
    killed.oom =
        OomVerdict{OomCause::OwnLimit, killed.ended, 4712, "simulate", 40 * kMiB, 48 * kMiB, 40 * kMiB, 8 * kMiB, 5 * kMiB};
    auto old = receipt("pbs.1234567[89].server-of-the-site.example.org", kUser, JobResult::SupervisorLost, 200 * 24h);
    return {whole, killed, old};
}

HostsOfJob hosts() {
    std::vector<Receipt> receipts;
    for (const std::string name : {"node7", "node8.example.org", "node9", "node10", "node11"}) {
        auto one = receipt("slurm.4712", kUser, JobResult::Exited, 1h);
        one.id = name;
        one.origin = {.host = name, .bootId = {}, .cluster = "blue", .user = "alice", .version = "0.1.0"};
        one.identity.run = 0;
        one.slots = 4;
        one.usage.cpuUser = 3h;
        one.usage.cpuSystem = 5min;
        one.usage.memoryNeed = 900 * kMiB;
        one.usage.memoryPeak = 950 * kMiB;
        one.limits.memoryMax = 1024 * kMiB;
        one.taskList = {{.number = 1,
                         .command = "simulate",
                         .started = one.started,
                         .ended = one.ended,
                         .exit = {.signal = 9},
                         .cpu = 3h,
                         .memoryPeak = 950 * kMiB,
                         .exact = true}};
        receipts.push_back(one);
    }
    auto& batch = receipts[0];
    batch.exit.status = 1;
    batch.ended += 1500ms;
    batch.identity.jobName = "tube";
    batch.identity.nodes = {"node7", "node8", "node9", "node10", "node11", "node12", "node13"};
    batch.identity.nodeCount = 7;
    batch.taskList[0] = {.number = 0,
                         .kind = TaskKind::Batch,
                         .command = "slurm_script",
                         .started = batch.started,
                         .ended = batch.ended,
                         .exit = batch.exit};
    auto& killed = receipts[1];
    killed.result = JobResult::OutOfMemory;
    killed.usage.memoryNeed = killed.usage.memoryPeak = 1024 * kMiB;
    killed.usage.oomKills = 1;
    killed.oom = OomVerdict{OomCause::OwnLimit, killed.ended, 4712, "simulate", 800 * kMiB, 1024 * kMiB, 1000 * kMiB, {}, {}};
    receipts[2].taskList[0].ended = receipts[2].ended = receipts[2].ended + 800ms;
    receipts[2].leftovers = {2, 7s, {"sleep 1000", "sleep 2000"}};
    receipts[3].result = JobResult::NodeLost;
    receipts[3].taskList.clear();
    receipts[3].usage = {};
    receipts[4].taskList[0].exit = {.status = 0};
    receipts[4].taskList[0].ended -= 10min;
    return hostsOfJob(std::move(receipts));
}

std::vector<TopRow> topRows() {
    std::vector<TopRow> rows;
    for (const auto& info : jobs()) {
        TopRow row;
        row.job = info;
        row.age = kNow - info.created;
        rows.push_back(row);
    }
    auto& row = rows.front();
    row.cpu = 199.5;
    row.cpuOfAllowed = 50;
    row.cpuTime = 90s;
    row.memory = 512 * kMiB;
    row.cache = 30 * kMiB;
    row.memoryNeed = 580 * kMiB;
    row.memoryCurrent = 550 * kMiB;
    row.memoryMax = 1024 * kMiB;
    row.memoryPeak = 600 * kMiB;
    row.readRate = 1536;
    row.writeRate = 0;
    row.tasks = 12;
    return rows;
}

Profile profile() {
    Profile made;
    for (int i = 0; i < 60; ++i) {
        ProfilePoint point{.length = 60s};
        const auto set = [&point](Measure measure, double mean, double most) {
            point.mean[static_cast<std::size_t>(measure)] = static_cast<float>(mean);
            point.most[static_cast<std::size_t>(measure)] = static_cast<float>(most);
        };
        set(Measure::Anon, i * 10.0 * kMiB, i * 11.0 * kMiB); // a leak
        set(Measure::Shmem, i < 20 ? 0 : 50.0 * kMiB, i < 20 ? 0 : 50.0 * kMiB);
        set(Measure::Cache, 300.0 * kMiB, 310.0 * kMiB);
        set(Measure::Cpu, i % 10 < 5 ? 1.5e6 : 0.2e6, 1.5e6);
        set(Measure::Io, i == 30 ? 4.0 * kMiB : 0, i == 30 ? 9.0 * kMiB : 0);
        set(Measure::Tasks, 3, 5);
        made.add(point);
    }
    return made;
}

IdleListing idle() {
    IdleListing listing;
    listing.since = 1h;
    listing.share = 10;
    listing.memoryShare = 20;
    const Idleness someMemory{.held = 64.0 * 1024 * kMiB, .used = 900.0 * kMiB, .over = 1h};
    listing.jobs = {{jobs()[1], 90'061s, Idleness{.held = 16, .used = 0.25, .over = 1h + 12min}, std::nullopt},
                    {job("sge.4712", ShownState::Running, 0, 2h), 2h, Idleness{.held = 1.5, .used = 0, .over = 1h}, someMemory},
                    {job("sge.4714", ShownState::Running, 0, 2h), 2h, std::nullopt, someMemory}};
    listing.withoutCpus = {"sge.4713"};
    return listing;
}

StrayRun strays() {
    StrayRun run;
    run.mode = "report";
    run.reasons = {"pinfoldd does not say which jobs are live: pinfoldd is not reachable"};
    run.rows = {stray(812, 0, StrayKind::Session, "session-3.scope", "-bash"),
                stray(4'194'303, kUser, StrayKind::Moved, "a-service-with-a-long-name@instance.service",
                      "./simulate --steps 1000000 --input /home/alice/input.h5")};
    run.rows[1].hasJob.reset();
    run.rows[1].tty = "pts/3";
    run.rows[1].actions = {"SIGTERM"};
    return run;
}

LeftoverListing leftovers() {
    LeftoverFile directory;
    directory.file.kind = LeftoverKind::TmpDirectory;
    directory.file.path = "/tmp/a-directory-with-a-long-name-of-a-job-that-is-over";
    directory.file.uid = kUser;
    directory.file.born = kNow - 1h;
    directory.file.tree.size = 1536 * kMiB;
    directory.file.tree.entries = 1234;
    directory.jobs.count = 3;
    directory.jobs.keys = {"sge.4711", "slurm.123456_789"};
    directory.kept = Kept::LiveJob;
    LeftoverFile memory;
    memory.file.kind = LeftoverKind::SysvShm;
    memory.file.ipc.emplace();
    memory.file.ipc->id = 7;
    memory.file.ipc->key = 42;
    memory.file.tree.size = 4096;
    memory.file.tree.entries = 1;
    memory.jobs.count = 1;
    memory.jobs.keys = {"sge.4711"};
    return {.files = {directory, memory}, .gaps = {{std::nullopt, "pinfoldd is not reachable"}, {kUser, "too many receipts"}}};
}

std::vector<doctor::Finding> findings() {
    using enum doctor::FindingState;
    return {{"cgroup.version", Ok, "cgroup v2 is mounted", "", ""},
            {"cgroup.controllers", Fail,
             "the controllers memory and pids are missing: limits of memory and of tasks are not enforced",
             "add cgroup_enable=memory to GRUB_CMDLINE_LINUX in /etc/default/grub, run update-grub, and reboot the node",
             "/sys/fs/cgroup/cgroup.controllers"},
            {"pam", Warn, "pam_pinfold is not used", "see pam_pinfold(8)", ""}};
}

ArchiveStatus archive() {
    const ArchiveNode complete{.node = "node1",
                               .epoch = "5e0c",
                               .position = 812,
                               .newest = 812,
                               .seen = kNow - 1min,
                               .complete = kNow - 1min,
                               .clockOff = -20'000};
    auto gap = complete;
    gap.node = "node812";
    gap.missing = 3;
    gap.replacedHistories = 1;
    gap.restored = kNow - 2h;
    auto silent = complete;
    silent.node = "node77";
    silent.seen = kNow - 4h;
    silent.complete = kNow - 5h;
    auto young = complete;
    young.node = "node9";
    young.newest = 1000;
    young.unsent = 188;
    young.complete.reset();
    auto behind = complete;
    behind.node = "node10";
    behind.newest = 813;
    behind.unsent = 1;
    behind.complete = kNow - 16min;
    behind.rejected = 1;
    return {.now = kNow, .nodes = {complete, gap, silent, young, behind}};
}

JournalEntry journalEntry() {
    return {.cursor = "s=1;i=2",
            .realTime = kNow,
            .monotonic = fromUsec<MonotonicTime>(42),
            .fields = {{"PRIORITY", "4"},
                       {"_HOSTNAME", "node7"},
                       {"SYSLOG_IDENTIFIER", "pinfoldd"},
                       {"_PID", "812"},
                       {"PINFOLD_JOB", "sge.4711"},
                       {"MESSAGE", "job sge.4711 left 2 processes behind\nsleep 1000"}}};
}

} // namespace pinfold::golden
