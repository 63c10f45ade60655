// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "config_fixture.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace pinfold {
namespace {

TEST_F(ConfigTest, noFileMeansDefaults) {
    const auto config = loaded();
    EXPECT_TRUE(config.files.empty());
    EXPECT_TRUE(config.warnings.empty());
    EXPECT_EQ(config.config.jobs.killGrace, 1s);
    EXPECT_EQ(config.config.jobs.onFailure, OnFailure::Refuse);
    EXPECT_FALSE(config.config.jobs.allowUserJobs);
    EXPECT_EQ(config.config.defaults, ResourceLimits{});
}

TEST_F(ConfigTest, readsEveryKey) {
    const auto [config, files, warnings] = loaded(R"(
[daemon]
log_level = "debug"
[jobs]
kill_grace = "2500ms"
on_failure = "run-unconfined"
allow_user_jobs = true
unenforced_limits = "warn"
max_per_user = 3
max_tasks = 4
max_tasks_per_user = 5
summary = true
omp_num_threads = true
[defaults]
memory_max = "4G"
cpu_quota = "200%"
cpu_weight = 50
allowed_cpus = "0-3,8"
tasks_max = 4096
run_time_max = "12h"
[gpus]
devices = ["/dev/nvidia0", ["/dev/dri/card1 r", "/dev/dri/renderD129"]]
common = ["/dev/nvidiactl"]
ids = ["GPU-a", "GPU-b"]
environment = ["CUDA_VISIBLE_DEVICES"]
[allocation]
hyper_threads = "idle"
[node]
reserve_memory = "4G"
reserve_cpus = "10%"
[leftovers]
report_max = 0
command_lines = "name"
[history]
max_age = "1h"
max_size = "1M"
patience = "5s"
on_failure = "continue"
[archive]
server = "archive.example.org"
port = 6432
database = "receipts"
certificate = "/etc/pki/node.crt"
key = "/etc/pki/node.key"
ca = "/etc/pki/ca.crt"
max_unsent = "1M"
ask = true
[metrics]
textfile = "/srv/text/pinfold.prom"
per_job = true
[idle]
since = "90min"
share = "25%"
memory_share = "5%"
[unkillable]
after = "2min"
action = "script"
script = "/etc/pinfold/unkillable"
)");
    EXPECT_EQ(files, std::vector<fs::path>{root_ / mainFile()});
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    EXPECT_EQ(config.daemon.logLevel, LogLevel::Debug);
    EXPECT_EQ(config.jobs.killGrace, 2500ms);
    EXPECT_EQ(config.jobs.onFailure, OnFailure::RunUnconfined);
    EXPECT_TRUE(config.jobs.allowUserJobs);
    EXPECT_EQ(config.jobs.unenforcedLimits, UnenforcedLimits::Warn);
    EXPECT_EQ(config.jobs.maxPerUser, 3U);
    EXPECT_EQ(config.jobs.summary, Summary::Always);
    EXPECT_TRUE(config.jobs.ompNumThreads);
    EXPECT_EQ(config.defaults, (ResourceLimits{.memoryMax = 4ULL << 30,
                                               .cpuQuota = 2'000'000,
                                               .cpuWeight = 50,
                                               .allowedCpus = *CpuList::parse("0-3,8"),
                                               .tasksMax = 4096,
                                               .runTimeMax = 43'200'000'000}));
    EXPECT_EQ(config.gpus.devices,
              (std::vector<DeviceRules>{{{"/dev/nvidia0", "rw"}}, {{"/dev/dri/card1", "r"}, {"/dev/dri/renderD129", "rw"}}}));
    EXPECT_EQ(config.gpus.common, (DeviceRules{{"/dev/nvidiactl", "rw"}}));
    EXPECT_EQ(config.gpus.ids, (std::vector<std::string>{"GPU-a", "GPU-b"}));
    EXPECT_EQ(config.gpus.environment, std::vector<std::string>{"CUDA_VISIBLE_DEVICES"});
    EXPECT_EQ(config.allocation.hyperThreads, HyperThreads::Idle);
    EXPECT_EQ(config.node.memory, (Config::Reserve{4ULL << 30, false}));
    EXPECT_EQ(config.node.cpus, (Config::Reserve{10, true}));
    EXPECT_EQ(config.history.maxAge, 1h);
    EXPECT_EQ(config.history.maxSize, 1U << 20);
    EXPECT_EQ(config.history.patience, 5s);
    EXPECT_EQ(config.history.onFailure, HistoryFailure::Continue);
    EXPECT_EQ(config.archive, (ArchiveConfig{.server = "archive.example.org",
                                             .port = 6432,
                                             .database = "receipts",
                                             .certificate = "/etc/pki/node.crt",
                                             .key = "/etc/pki/node.key",
                                             .ca = "/etc/pki/ca.crt",
                                             .maxUnsent = 1 << 20,
                                             .ask = true}));
    EXPECT_EQ(config.jobs.maxTasks, 4U);
    EXPECT_EQ(config.jobs.maxTasksPerUser, 5U);
    EXPECT_EQ(config.leftovers.reportMax, 0U);
    EXPECT_EQ(config.leftovers.commandLines, CommandLines::Name);
    EXPECT_EQ(config.unkillable.after, 2min);
    EXPECT_EQ(config.unkillable.action, UnkillableAction::Script);
    EXPECT_EQ(config.unkillable.script, "/etc/pinfold/unkillable");
    EXPECT_EQ(config.metrics.textfile, "/srv/text/pinfold.prom");
    EXPECT_TRUE(config.metrics.perJob);
    EXPECT_EQ(config.idle.since, 90min);
    EXPECT_EQ(config.idle.share, 25U);
    EXPECT_EQ(config.idle.memoryShare, 5U);
}

TEST_F(ConfigTest, theMetricsFileIsOneThatNodeExporterReads) {
    for (const char* value : {"\"pinfold.prom\"", "\"/srv/pinfold.txt\"", "\"/srv/.prom\"", "\"/srv/../pinfold.prom\"", "true",
                              "\"/srv/a\\u0000.prom\""})
        EXPECT_NE(errorOf("[metrics]\ntextfile = " + std::string(value) + "\n").find("textfile: "), std::string::npos) << value;
    EXPECT_EQ(loaded("[metrics]\n").config.metrics.textfile, std::nullopt);
    write(dropIn(kAdmin, "50-off.toml"), "[metrics]\ntextfile = \"\"\n");
    EXPECT_EQ(loaded("[metrics]\ntextfile = \"/srv/pinfold.prom\"\n").config.metrics.textfile, std::nullopt);
}

TEST_F(ConfigTest, numbersAreBytesAndSeconds) {
    const auto config = loaded("[jobs]\nkill_grace = 5\n[defaults]\nmemory_max = 1048576\nrun_time_max = 60\n").config;
    EXPECT_EQ(config.jobs.killGrace, 5s);
    EXPECT_EQ(config.defaults.memoryMax, 1'048'576U);
    EXPECT_EQ(config.defaults.runTimeMax, 60'000'000U);
}

TEST_F(ConfigTest, theSummaryIsForAllJobsOrNoneOrThoseThatFailed) {
    EXPECT_EQ(loaded("").config.jobs.summary, Summary::Never);
    EXPECT_EQ(loaded("[jobs]\nsummary = false\n").config.jobs.summary, Summary::Never);
    EXPECT_EQ(loaded("[jobs]\nsummary = true\n").config.jobs.summary, Summary::Always);
    EXPECT_EQ(loaded("[jobs]\nsummary = \"on-failure\"\n").config.jobs.summary, Summary::OnFailure);
}

TEST_F(ConfigTest, infinityIsNotUnset) {
    EXPECT_EQ(loaded("[defaults]\nmemory_max = \"infinity\"\n").config.defaults.memoryMax, kInfinity);
    EXPECT_EQ(loaded("[defaults]\n").config.defaults.memoryMax, std::nullopt);
}

TEST_F(ConfigTest, unknownKeysAreWarnings) {
    const auto config = loaded("[jobs]\nallow_user_jobs = true\n  kil_grace = \"1s\"\n\n[job]\nx = 1\n");
    EXPECT_TRUE(config.config.jobs.allowUserJobs);
    ASSERT_EQ(config.warnings.size(), 2U);
    const auto file = (root_ / mainFile()).string();
    const auto all = config.warnings[0] + "\n" + config.warnings[1];
    EXPECT_NE(all.find(file + ":3:3: "), std::string::npos) << all;
    EXPECT_NE(all.find("kil_grace"), std::string::npos) << all;
    EXPECT_NE(all.find(file + ":5:"), std::string::npos) << all;
}

TEST_F(ConfigTest, errorsNamePlaceAndValue) {
    struct Row {
        const char* text;
        const char* place;
        const char* contains;
    };
    for (const auto& [text, place, contains] : {
             Row{"[jobs]\nkill_grace = \"soon\"\n", "2:14: ", "soon"},
             Row{"[jobs]\nkill_grace = \"61min\"\n", "2:14: ", "61min"},
             Row{"[jobs]\nkill_grace = -1\n", "2:14: ", "-1"},
             Row{"[jobs]\nkill_grace = true\n", "2:14: ", "true"},
             Row{"[jobs]\nkill_grace = \"infinity\"\n", "2:14: ", "infinity"},
             Row{"[jobs]\non_failure = \"ignore\"\n", "2:14: ", "run-unconfined"},
             Row{"[unkillable]\nafter = \"500ms\"\n", "2:9: ", "1 s to 1 h"},
             Row{"[unkillable]\nafter = \"2h\"\n", "2:9: ", "1 s to 1 h"},
             Row{"[unkillable]\naction = \"kill\"\n", "2:10: ", "comment"},
             Row{"[unkillable]\nscript = \"bin/x\"\n", "2:10: ", "absolute"},
             Row{"[unkillable]\nscript = \"/bin/x\\n\"\n", "2:10: ", "absolute"},
             Row{"[unkillable]\naction = \"script\"\n", "1:1: ", "needs unkillable.script"},
             Row{"[idle]\nsince = \"59s\"\n", "2:9: ", "1 min to 30 days"},
             Row{"[idle]\nsince = \"31d\"\n", "2:9: ", "1 min to 30 days"},
             Row{"[idle]\nshare = 10\n", "2:9: ", "\"1%\" to \"100%\""},
             Row{"[idle]\nshare = \"0%\"\n", "2:9: ", "0%"},
             Row{"[idle]\nshare = \"101%\"\n", "2:9: ", "101%"},
             Row{"[idle]\nmemory_share = \"0%\"\n", "2:16: ", "not a share of the memory limit"},
             Row{"[jobs]\non_failure = 1\n", "2:14: ", "refuse"},
             Row{"[jobs]\nallow_user_jobs = \"yes\"\n", "2:19: ", "yes"},
             Row{"[jobs]\nsummary = \"failed\"\n", "2:11: ", "\"on-failure\""},
             Row{"[jobs]\nmax_per_user = \"many\"\n", "2:16: ", "many"},
             Row{"[jobs]\nmax_per_user = -5\n", "2:16: ", "-5"},
             Row{"[jobs]\nmax_tasks = 0\n", "2:13: ", "0"},
             Row{"[daemon]\n\nlog_level = \"loud\"\n", "3:13: ", "warning"},
             Row{"[defaults]\nmemory_max = \"4 apples\"\n", "2:14: ", "4 apples"},
             Row{"[defaults]\nmemory_max = 5\n", "2:14: ", "memory_max"},
             Row{"[defaults]\nmemory_max = [1]\n", "2:14: ", "array"},
             Row{"[defaults]\ncpu_weight = 0\n", "2:14: ", "1 to 10000"},
             Row{"[defaults]\ncpu_quota = \"fast\"\n", "2:13: ", "fast"},
             Row{"[defaults]\nallowed_cpus = \"3-1\"\n", "2:16: ", "3-1"},
             Row{"[defaults]\ntasks_max = 0\n", "2:13: ", "tasks_max"},
             Row{"[defaults]\nrun_time_max = \"1us\"\n", "2:16: ", "run_time_max"},
             Row{"[leftovers]\nreport_max = 10001\n", "2:14: ", "10001"},
             Row{"[leftovers]\ncommand_lines = \"some\"\n", "2:17: ", "some"},
             Row{"[history]\nmax_age = \"59min\"\n", "2:11: ", "1 h or more"},
             Row{"[history]\nmax_size = 1048575\n", "2:12: ", "1M or more"},
             Row{"[history]\nmax_size = \"much\"\n", "2:12: ", "much"},
             Row{"[history]\npatience = \"0s\"\n", "2:12: ", "1 s to 1 h"},
             Row{"[history]\non_failure = \"refuse\"\n", "2:14: ", "refuse"},
             Row{"[gpus]\ndevices = \"/dev/nvidia0\"\n", "2:11: ", "one entry for each GPU"},
             Row{"[gpus]\ndevices = [\"nvidia0\"]\n", "2:11: ", "is not a device"},
             Row{"[gpus]\ndevices = [[\"/dev/../etc\"]]\n", "2:11: ", "is not a device"},
             Row{"[gpus]\nids = [\"a,b\"]\n", "2:7: ", "GPU ids"},
             Row{"[gpus]\nids = [\"a\"]\n", "1:1: ", "1 ids for 0 devices"},
             Row{"[gpus]\nenvironment = [\"A=B\"]\n", "2:15: ", "environment variables"},
             Row{"[allocation]\nhyper_threads = \"off\"\n", "2:17: ", "idle"},
             Row{"[node]\nreserve_memory = \"91%\"\n", "2:18: ", "91%"},
             Row{"[node]\nreserve_memory = \"infinity\"\n", "2:18: ", "infinity"},
             Row{"[node]\nreserve_cpus = \"0-3\"\n", "2:16: ", "0-3"},
             Row{"[archive]\nserver = \"a,b\"\n", "2:10: ", "one host name"},
             Row{"[archive]\nserver = \"run/postgresql\"\n", "2:10: ", "absolute path"},
             Row{"[archive]\nserver = \"@abstract\"\n", "2:10: ", "@abstract"},
             Row{"[archive]\nserver = 5\n", "2:10: ", "5"},
             Row{"[archive]\nport = 0\n", "2:8: ", "1 to 65535"},
             Row{"[archive]\nport = 65536\n", "2:8: ", "65536"},
             Row{"[archive]\ndatabase = \"\"\n", "2:12: ", "1 to 63"},
             Row{"[archive]\nkey = \"node.key\"\n", "2:7: ", "absolute"},
             Row{"[archive]\nmax_unsent = \"1K\"\n", "2:14: ", "1M or more"},
             Row{"[archive]\nask = true\n", "1:1: ", "needs archive.server"},
             Row{"jobs = 5\n", "1:8: ", "jobs"},
         }) {
        const auto error = errorOf(text);
        EXPECT_TRUE(error.starts_with(place)) << error;
        EXPECT_NE(error.find(contains), std::string::npos) << error;
    }
}

TEST_F(ConfigTest, historyMayBeWithoutLimits) {
    const auto config = loaded("[history]\nmax_age = \"infinity\"\nmax_size = \"infinity\"\n").config;
    EXPECT_EQ(config.history.maxAge, kForever);
    EXPECT_EQ(config.history.maxSize, kInfinity);
    EXPECT_EQ(loaded("[history]\nmax_age = 86400\n").config.history.maxAge, 24h) << "seconds";
    EXPECT_EQ(loaded("[history]\nmax_age = 86400\n").config.history.maxSize, 1U << 30);
}

TEST_F(ConfigTest, theServerOfTheArchiveIsAHostOrADirectory) {
    EXPECT_FALSE(loaded().config.archive.enabled());
    EXPECT_FALSE(loaded("[archive]\nserver = \"\"\n").config.archive.enabled());
    const auto host = loaded("[archive]\nserver = \"2001:db8::1\"\n").config.archive;
    EXPECT_TRUE(host.enabled() && !host.serverIsSocket());
    const auto socket = loaded("[archive]\nserver = \"/run/postgresql\"\nmax_unsent = \"infinity\"\n").config.archive;
    EXPECT_TRUE(socket.enabled() && socket.serverIsSocket());
    EXPECT_EQ(socket.maxUnsent, kInfinity);
}

TEST_F(ConfigTest, syntaxErrorsNameTheLine) {
    EXPECT_TRUE(errorOf("[jobs]\nkill_grace = \n").starts_with("2:"));
    EXPECT_TRUE(errorOf("[jobs]\n\n[jobs\n").starts_with("3:"));
    EXPECT_TRUE(errorOf("[jobs]\nmax_per_user = 1\nmax_per_user = 2\n").starts_with("3:"));
    EXPECT_TRUE(errorOf("[jobs]\n# \xff\n").starts_with("2:"));
}

TEST_F(ConfigTest, valuesInErrorsAreMadeSafe) {
    const auto error = errorOf("[jobs]\non_failure = \"\\u001b[2J\\n\"\n");
    EXPECT_NE(error.find("\\x1b[2J"), std::string::npos) << error;
    EXPECT_EQ(error.find('\x1b'), std::string::npos);
}

TEST_F(ConfigTest, theHighestMainFileStandsAlone) {
    const auto vendor = write(std::string(kVendor) + "pinfold.toml", "[jobs]\nmax_per_user = 1\nkill_grace = \"9s\"\n");
    EXPECT_EQ(loaded().config.jobs.maxPerUser, 1U);
    const auto runtime = write(std::string(kRuntime) + "pinfold.toml", "[jobs]\nmax_per_user = 2\n");
    EXPECT_EQ(loaded().files, std::vector{runtime});
    const auto config = loaded("[jobs]\nmax_per_user = 3\n");
    EXPECT_EQ(config.files, std::vector{root_ / mainFile()});
    EXPECT_EQ(config.config.jobs.maxPerUser, 3U);
    EXPECT_EQ(config.config.jobs.killGrace, Config().jobs.killGrace); // pinfold ignores the vendor's configuration file
}

TEST_F(ConfigTest, dropInsAreReadByNameAfterTheMainFile) {
    const auto b = write(dropIn(kVendor, "20-b.toml"), "[jobs]\nmax_per_user = 20\n");
    const auto a = write(dropIn(kAdmin, "10-a.toml"), "[jobs]\nmax_per_user = 10\nkill_grace = \"7s\"\n");
    const auto c = write(dropIn(kRuntime, "30-c.toml"), "[daemon]\nlog_level = \"error\"\n");
    write(dropIn(kAdmin, "README"), "not TOML");
    fs::create_symlink("editor@host.1", root_ / dropIn(kAdmin, ".#10-a.toml"));
    const auto config = loaded("[jobs]\nmax_per_user = 1\nallow_user_jobs = true\n");
    EXPECT_EQ(config.files, (std::vector{root_ / mainFile(), a, b, c}));
    EXPECT_EQ(config.config.jobs.maxPerUser, 20U);
    EXPECT_EQ(config.config.jobs.killGrace, 7s);
    EXPECT_EQ(config.config.daemon.logLevel, LogLevel::Error);
    EXPECT_TRUE(config.config.jobs.allowUserJobs);
}

TEST_F(ConfigTest, aDropInMasksItsNamesake) {
    write(dropIn(kVendor, "10.toml"), "[jobs]\nmax_per_user = 10\nkill_grace = \"7s\"\n");
    const auto runtime = write(dropIn(kRuntime, "10.toml"), "[jobs]\nmax_per_user = 11\n");
    const auto config = loaded();
    EXPECT_EQ(config.files, std::vector{runtime});
    EXPECT_EQ(config.config.jobs.maxPerUser, 11U);
    EXPECT_EQ(config.config.jobs.killGrace, Config().jobs.killGrace);
    mask(dropIn(kAdmin, "10.toml"));
    EXPECT_TRUE(loaded().files.empty());
}

TEST_F(ConfigTest, aMaskedMainFileIsNone) {
    write(std::string(kVendor) + "pinfold.toml", "[jobs]\nmax_per_user = 1\n");
    mask(mainFile());
    const auto config = loaded();
    EXPECT_TRUE(config.files.empty());
    EXPECT_EQ(config.config.jobs.maxPerUser, Config().jobs.maxPerUser);
}

TEST_F(ConfigTest, aLinkToAFileIsFollowed) {
    const auto target = write("srv/site.toml", "[jobs]\nmax_per_user = 5\n");
    fs::create_directories(root_ / kAdmin);
    fs::create_symlink(target, root_ / mainFile());
    EXPECT_EQ(loaded().config.jobs.maxPerUser, 5U);
}

TEST_F(ConfigTest, onlyRegularFilesAreRead) {
    const auto expectRefused = [this] {
        const auto result = load();
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, ErrorCode::ConfigInvalid);
        EXPECT_TRUE(result.error().message.starts_with((root_ / mainFile()).string())) << result.error().message;
        fs::remove_all(root_ / mainFile());
    };
    fs::create_directories(root_ / mainFile());
    expectRefused();
    ASSERT_EQ(::mkfifo((root_ / mainFile()).c_str(), 0600), 0);
    expectRefused();
    fs::create_symlink(root_ / "nowhere", root_ / mainFile());
    expectRefused();
}

TEST_F(ConfigTest, oneBadFileRefusesAll) {
    write(mainFile(), "[jobs]\nmax_per_user = 5\n");
    const auto bad = write(dropIn(kAdmin, "99.toml"), "[jobs]\nmax_per_user = []\n");
    const auto result = load();
    ASSERT_FALSE(result);
    EXPECT_TRUE(result.error().message.starts_with(bad.string() + ":2:16: ")) << result.error().message;
}

} // namespace
} // namespace pinfold
