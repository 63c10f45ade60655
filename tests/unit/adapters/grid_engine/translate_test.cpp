// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/translate.hpp"

#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {
namespace {

constexpr const char* kSpool = "/var/spool/gridengine/execd/node1/active_jobs/";
constexpr std::uint64_t kMebi = 1 << 20;

/// Returns a file that sge_execd 8.1.9 wrote, without the lines that do not matter for the tests.
std::string batchJob() {
    return "add_grp_id=65400\nfs_stderr_host=\"\"\nfs_stderr_path=\nstdout_path=/home/alice\nstderr_path=/home/alice\n"
           "stdin_path=/dev/null\nmerge_stderr=0\ntmpdir=/tmp/1.1.batch.q\nckpt_job=0\n"
           "h_vmem=INFINITY\nh_vmem_is_consumable_job=0\ns_vmem=INFINITY\ns_vmem_is_consumable_job=0\n"
           "h_rss=INFINITY\ns_rss=INFINITY\npriority=0\nscript_file=/var/spool/gridengine/execd/node1/job_scripts/1\n"
           "job_owner=alice\nmin_uid=1000\ncwd=/home/alice\nstarter_method=NONE\nsuspend_method=NONE\nresume_method=NONE\n"
           "pe=none\npe_slots=1\nhost_slots=1\nqueue=batch.q\nhost=node1\nprocessors=UNDEFINED\nbinding=NULL\n"
           "job_name=job.sh\njob_id=1\nja_task_id=0\nnotify=0\nnjob_args=0\nadmin_user=sgeadmin\n";
}

std::string with(std::string config, const std::string& name, const std::string& value) {
    const auto line = config.find("\n" + name + "=");
    EXPECT_NE(line, std::string::npos) << name;
    config.replace(line + 1, config.find('\n', line + 1) - line - 1, name + "=" + value);
    return config;
}

Result<GridEngineJob> read(const std::string& directory, const std::string& config) {
    return readGridEngineJob(kSpool + directory, GridEngineConfig::parse(config));
}

GridEngineJob readGood(const std::string& directory, const std::string& config) {
    auto job = read(directory, config);
    EXPECT_TRUE(job) << job.error().message;
    return job ? *std::move(job) : GridEngineJob{};
}

TEST(GridEngine, aBatchJob) {
    const auto job = readGood("1.1", batchJob());
    EXPECT_EQ(job.key, "sge.1");
    EXPECT_EQ(job.owner, "alice");
    EXPECT_FALSE(job.slaveTask);
    EXPECT_EQ(job.slots, 1U);
    EXPECT_EQ(job.limits, ResourceLimits{});
    EXPECT_TRUE(job.cores.empty());
    EXPECT_EQ(job.output.path, "/home/alice");
    EXPECT_EQ(job.output.name, "job.sh.e1");
    EXPECT_TRUE(job.shepherdSuspendsAlone);
}

TEST(GridEngine, whatTheReceiptSaysAboutAJob) {
    const auto config = batchJob() + "account=physics\nacct_project=none\n";
    EXPECT_EQ(readGood("1.1", config).identity, (JobIdentity{.jobName = "job.sh", .account = "physics", .queue = "batch.q"}));
    const auto array = readGood("1.3", with(with(config, "ja_task_id", "3"), "acct_project", "quarks")).identity;
    EXPECT_EQ(array.project, "quarks");
    EXPECT_EQ(array.arrayJob, 1U);
    EXPECT_EQ(array.arrayTask, 3U);
}

TEST(GridEngine, aLineThatAUserAddedForgesNoAccount) {
    const auto forged =
        readGood("1.1", batchJob() + "account=physics\nacct_project=none\njob_arg1=x\naccount=chemistry\n").identity;
    EXPECT_EQ(forged.account, std::nullopt);
    EXPECT_EQ(forged.queue, "batch.q");
    EXPECT_EQ(readGood("1.1", batchJob() + "acct_project=none\njob_arg1=x\nacct_project=quarks\n").identity.project,
              std::nullopt);
}

TEST(GridEngine, submissionAndNodesAreInOtherFiles) {
    JobIdentity identity;
    addFromSpool(identity, GridEngineConfig::parse("SGE_O_HOST=login1\nSGE_O_WORKDIR=/home/alice/a\tb\nPATH=/bin\n"),
                 "node1 2 batch.q@node1 UNDEFINED\nnode2 1 batch.q@node2 <NULL>\n\n");
    EXPECT_EQ(identity.submitHost, "login1");
    EXPECT_EQ(identity.submitDirectory, "/home/alice/a\\x09b");
    EXPECT_EQ(identity.nodes, (std::vector<std::string>{"node1", "node2"}));
    EXPECT_EQ(identity.nodeCount, 2U);
    JobIdentity nothing;
    addFromSpool(nothing, GridEngineConfig::parse(""), "");
    EXPECT_EQ(nothing, JobIdentity{});
}

TEST(GridEngine, theSitesVerifierTellsTheTimeLimit) {
    const auto limit = [](const std::string& text) {
        return gridEngineRunTimeMax(GridEngineConfig::parse("PATH=/bin\nPINFOLD_BATCH_RUN_TIME_MAX=" + text + "\n"));
    };
    EXPECT_EQ(limit("3600"), 3'600'000'000U);
    EXPECT_EQ(limit("1::1"), 3'601'000'000U);
    for (const char* text : {"", "INFINITY", "0", "0:0:0", "1:1:1:1", "-1", "99999999999999999999"})
        EXPECT_EQ(limit(text), std::nullopt) << text;
    EXPECT_EQ(gridEngineRunTimeMax(GridEngineConfig::parse("PATH=/bin\n")), std::nullopt);
}

TEST(GridEngine, aTaskOfAnArray) {
    const auto config = with(with(with(batchJob(), "ja_task_id", "3"), "merge_stderr", "1"), "stdout_path", "out");
    const auto job = readGood("1.3", config);
    EXPECT_EQ(job.key, "sge.1.3");
    EXPECT_EQ(job.output.path, "/home/alice/out");
    EXPECT_EQ(job.output.name, "job.sh.o1.3");
}

TEST(GridEngine, aSlaveTaskBelongsToItsJob) {
    const auto config = with(batchJob(), "host_slots", "4") + "pe_task_id=1.node1\npe_task_id=1.node1\n";
    const auto job = readGood("1.1/1.node1", config);
    EXPECT_EQ(job.key, "sge.1");
    EXPECT_TRUE(job.slaveTask);
    EXPECT_EQ(job.slots, 4U);
    EXPECT_EQ(job.output.path, "");
}

TEST(GridEngine, anInteractiveJobHasNoFileForItsOutput) {
    for (const char* kind : {"QRSH", "qlogin", "QRLOGIN"})
        EXPECT_EQ(readGood("1.1", with(batchJob(), "script_file", kind)).output.path, "") << kind;
}

TEST(GridEngine, memoryIsScaledBySlotsAsTheShepherdDoes) {
    const auto parallel = with(batchJob(), "host_slots", "4");
    EXPECT_EQ(readGood("1.1", with(parallel, "h_vmem", "1G")).limits.memoryMax, 4096 * kMebi);
    EXPECT_EQ(readGood("1.1", with(with(parallel, "h_vmem", "1G"), "h_vmem_is_consumable_job", "1")).limits.memoryMax,
              1024 * kMebi);
    EXPECT_EQ(readGood("1.1", with(parallel, "h_rss", "1G")).limits.memoryMax, 1024 * kMebi);
    EXPECT_EQ(readGood("1.1", with(with(parallel, "h_vmem", "1G"), "h_rss", "5G")).limits.memoryMax, 4096 * kMebi);
    EXPECT_EQ(readGood("1.1", with(with(parallel, "s_vmem", "1G"), "s_rss", "3G")).limits.memoryHigh, 3072 * kMebi);
}

TEST(GridEngine, memoryHasTheShepherdsFloorAndNoOverflow) {
    EXPECT_EQ(readGood("1.1", with(batchJob(), "h_vmem", "1K")).limits.memoryMax, 10 * kMebi);
    const auto huge = with(with(batchJob(), "h_vmem", "8000000T"), "host_slots", "999999");
    EXPECT_EQ(readGood("1.1", huge).limits.memoryMax, UINT64_MAX >> 1);
}

TEST(GridEngine, aSoftLimitThatIsNeverReachedIsNone) {
    const auto config = with(with(batchJob(), "s_vmem", "2G"), "h_rss", "2G");
    EXPECT_EQ(readGood("1.1", config).limits.memoryHigh, std::nullopt);
}

TEST(GridEngine, linesOfTheUsersOwnWidenNothing) {
    const auto own =
        with(with(batchJob(), "h_vmem", "1G"), "host_slots", "2") +
        "h_vmem=INFINITY\nh_vmem=900G\nhost_slots=100\nh_vmem_is_consumable_job=2\nprocessors=0-7\nbinding=explicit:0,0:Sc\n";
    const auto job = readGood("1.1", with(own, "processors", "2-3"));
    EXPECT_EQ(job.limits.memoryMax, 2048 * kMebi);
    EXPECT_EQ(job.slots, 2U);
    EXPECT_EQ(job.limits.allowedCpus->toString(), "2-3");
    EXPECT_TRUE(job.cores.empty());
    EXPECT_EQ(readGood("1.1", with(batchJob(), "processors", "2-3") + "processors=9\n").limits.allowedCpus->toString(), "2-3");
}

TEST(GridEngine, whoseJobItIsCanNotBeSaidTwice) {
    for (const char* line : {"job_owner=root\n", "job_id=2\n", "ja_task_id=2\n"}) {
        const auto job = read("1.1", batchJob() + line);
        ASSERT_FALSE(job) << line;
        EXPECT_EQ(job.error().code, ErrorCode::InvalidArgument);
    }
    EXPECT_TRUE(read("1.1", batchJob() + "job_owner=alice\n"));
}

TEST(GridEngine, theDirectoryAndTheConfigurationMustAgree) {
    for (const char* directory : {"2.1", "1.2", "1", "1.", ".1", "1.x", "", "1.1/", "1.1/1.node1/x"})
        EXPECT_FALSE(read(directory, batchJob())) << directory;
    EXPECT_FALSE(read("1.1", with(batchJob(), "ja_task_id", "2")));
    EXPECT_FALSE(readGridEngineJob("/tmp/1.1", GridEngineConfig::parse(batchJob())));
    EXPECT_FALSE(readGridEngineJob("", {}));
}

TEST(GridEngine, whatTheSiteHasForSuspensionIsTheShepherds) {
    EXPECT_FALSE(readGood("1.1", with(batchJob(), "suspend_method", "/site/suspend")).shepherdSuspendsAlone);
    EXPECT_FALSE(readGood("1.1", with(batchJob(), "suspend_method", "SIGTSTP")).shepherdSuspendsAlone);
    EXPECT_FALSE(readGood("1.1", with(batchJob(), "notify", "60")).shepherdSuspendsAlone);
}

TEST(GridEngine, boundCoresAreInTheTopologyAtTheEnd) {
    using Cores = std::vector<GridEngineCore>;
    EXPECT_EQ(parseGridEngineBinding("explicit:0,0:1,1:ScCSCc"), (Cores{{0, 0}, {1, 1}}));
    EXPECT_EQ(parseGridEngineBinding("striding:2:1:0,1:SCTTcTTcttS"), (Cores{{0, 1}, {0, 2}}));
    for (const char* none : {"NULL", "no_job_binding", "", "env_explicit:0,0:Sc", "pe_linear:1:Sc", "explicit:0,0:cS",
                             "linear:1:0,0", "explicit:0,0:ScX", ":"})
        EXPECT_TRUE(parseGridEngineBinding(none).empty()) << none;
}

TEST(GridEngine, damagedConfigurationIsNeverMoreThanWasGranted) {
    const auto good = with(with(batchJob(), "h_vmem", "1G"), "binding", "explicit:0,0:ScCC");
    Mutator mutator;
    for (int i = 0; i < 5000; ++i) {
        const auto job = read("1.1", good + mutator.mutate(good) + mutator.bytes(64));
        if (!job)
            continue;
        EXPECT_EQ(job->key, "sge.1");
        EXPECT_EQ(job->owner, "alice");
        ASSERT_TRUE(job->limits.memoryMax);
        EXPECT_LE(*job->limits.memoryMax, 1024 * kMebi);
        EXPECT_EQ(job->slots, 1U);
    }
    for (int i = 0; i < 5000; ++i)
        (void)read(mutator.mutate("1.1/1.node1"), mutator.mutate(good));
}

} // namespace
} // namespace pinfold
