// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/torque/translate.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace pinfold::torque {
namespace {

constexpr std::uint64_t kGiB = 1ULL << 30U;

const Environment kMotherSuperior{{"PBS_NODENUM", "0"},
                                  {"PBS_MSHOST", "node1"},
                                  {"PBS_NUM_NODES", "2"},
                                  {"PBS_NUM_PPN", "4"},
                                  {"PBS_NP", "8"},
                                  {"PBS_NODEFILE", "/x/aux/4711.srv"},
                                  {"PBS_RESOURCE_NODES", "2:ppn=4"}};
const Environment kSister{
    {"PBS_NODENUM", "1"}, {"PBS_MSHOST", "node1"}, {"PBS_NUM_NODES", "2"}, {"PBS_NUM_PPN", "4"}, {"PBS_NP", "8"}};
const std::string kNodeFile = "node1\nnode1\nnode1\nnode1\nnode2\nnode2\nnode2\nnode2\n";
const std::string kCookie = "0123456789ABCDEF0123456789ABCDEF";

Words prologue(const std::string& id, const std::string& resources) {
    return {"/var/spool/torque/mom_priv/prologue", id, "alice", "users", "job", resources, "batch", "", "/x/jobs/4711.srv.SC"};
}

Words epilogue(const std::string& exit) {
    return {"/x/epilogue", "4711.srv",      "alice", "users", "job", "1234",
            "mem=1gb",     "cput=00:00:01", "batch", "",      exit,  "/x/4711.srv.SC"};
}

std::optional<std::uint64_t> memory(std::string_view resources, Processors processors = {}) {
    return memoryHere(resources, processors);
}

std::string jobFile(const std::string& jobId, const std::string& attributes) {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<job>\n  <version>131842</version>\n  <jobid>" + jobId +
           "</jobid>\n  <fileprefix>4711.srv</fileprefix>\n  <record_type>3</record_type>\n  <exit_status>0</exit_status>\n"
           "  <execution_uid>1000</execution_uid>\n  <execution_gid>100</execution_gid>\n  <attributes>\n" +
           attributes + "  </attributes>\n</job>\n";
}

std::string cookieElement(const std::string& cookie) { return "    <cookie flags=\"1\">" + cookie + "</cookie>\n"; }

TEST(Torque, keepsTheJobsOfTwoServersApart) {
    EXPECT_EQ(*jobKey("4711.old.example.org"), "torque.4711.old.example.org");
    EXPECT_EQ(*jobKey("4711.new"), "torque.4711.new");
    EXPECT_EQ(*jobKey("12[3].server"), "torque.12[3].server");
    for (const char* id : {"", "47 11", "4711/../x", "4711\n"})
        EXPECT_FALSE(jobKey(id)) << id;
}

TEST(Torque, theMotherSuperiorCountsHerProcessorsInTheNodeFile) {
    const auto counted = processors(kMotherSuperior, "", "node1\nnode1\nnode2\nnode1\n");
    EXPECT_EQ(counted.here, 3U);
    EXPECT_EQ(counted.whole, 4U);
    EXPECT_TRUE(counted.sure);
}

TEST(Torque, aSisterOnlyEstimatesHerProcessors) {
    const auto counted = processors(kSister, "", kNodeFile);
    EXPECT_EQ(counted.here, 4U);
    EXPECT_EQ(counted.whole, 8U);
    EXPECT_FALSE(counted.sure);
}

TEST(Torque, aJobOfOneNodeHasAllOfItsProcessorsHere) {
    const Environment one{{"PBS_NODENUM", "0"}, {"PBS_NUM_NODES", "1"}, {"PBS_NUM_PPN", "6"}, {"PBS_NP", "6"}};
    const auto counted = processors(one, "", "");
    EXPECT_EQ(counted.here, 6U);
    EXPECT_TRUE(counted.sure);
    EXPECT_EQ(processors({}, "ncpus=5", "").here, 5U);
    EXPECT_EQ(processors({}, "", "").here, 1U);
}

TEST(Torque, processorCountsOutOfReasonAreNone) {
    for (const char* text : {"0", "-4", "99999999999999999999", "4x", ""})
        EXPECT_EQ(processors({{"PBS_NUM_PPN", text}, {"PBS_NP", text}}, "", "").here, 1U) << text;
}

TEST(Torque, readsTorquesSizes) {
    EXPECT_EQ(memory("mem=4gb"), 4 * kGiB);
    EXPECT_EQ(memory("mem=4G"), 4 * kGiB);
    EXPECT_EQ(memory("walltime=01:00:00,mem=100MW,nodes=1"), 400ULL << 20U);
    EXPECT_EQ(memory("mem=2048"), 2048U);
    EXPECT_EQ(memory("mem=2048b"), 2048U);
    EXPECT_EQ(memory("mem=99999999999999999pb"), UINT64_MAX);
    for (const char* text : {"", "mem", "mem=", "mem=gb", "mem=-1gb", "mem=4xb", "mem=4gbb", "mem=0", "xmem=4gb", "memory=4gb"})
        EXPECT_FALSE(memory(text)) << text;
}

TEST(Torque, readsTheWalltime) {
    EXPECT_EQ(walltime("nodes=1,walltime=01:00:00"), 3600U);
    EXPECT_EQ(walltime("walltime=90"), 90U);
    EXPECT_EQ(walltime("walltime=1:30.5"), 90U);
    EXPECT_EQ(walltime("walltime=240:00:00"), 864'000U);
    EXPECT_EQ(walltime("software=a,walltime=900,walltime=800"), 800U);
    for (const char* text : {"", "walltime", "walltime=", "walltime=0", "walltime=x", "walltime=1:x", "walltime=-5",
                             "xwalltime=5", "walltime=99999999999999999999", "walltime=1:1:1:1"})
        EXPECT_FALSE(walltime(text)) << text;
}

TEST(Torque, aCommaInAUsersValueGetsNobodyMoreMemory) {
    EXPECT_EQ(memory("mem=1gb,software=a,mem=900gb"), kGiB);
    EXPECT_EQ(memory("file=x,mem=900gb,mem=1gb"), kGiB);
}

TEST(Torque, takesTheHostsPartOfTheJobsMemory) {
    const Processors part{.here = 4, .whole = 8, .sure = true};
    EXPECT_EQ(memory("mem=8gb", part), 4 * kGiB);
    EXPECT_EQ(memory("pmem=1gb", part), 4 * kGiB);
    EXPECT_EQ(memory("mem=8gb,pmem=512mb", part), 2 * kGiB);
    EXPECT_EQ(memory("mem=3", Processors{.here = 1, .whole = 2, .sure = true}), 2U);
    EXPECT_EQ(memory("vmem=8gb", part), 4 * kGiB) << "as Torque's own cgroups, where there is nothing better";
    EXPECT_EQ(memory("mem=2gb,vmem=8gb", part), kGiB);
}

TEST(Torque, neverAllowsLessThanTheHostsPart) {
    const Processors guess{.here = 4, .whole = 8, .sure = false};
    EXPECT_EQ(memory("mem=8gb", guess), 8 * kGiB);
    EXPECT_EQ(memory("pmem=1gb", guess), 8 * kGiB);
}

TEST(Torque, thePrologueOpensTheJob) {
    const auto words =
        openArguments(prologue("12[3].srv", "nodes=2:ppn=4,mem=8gb,walltime=02:00:00"), kMotherSuperior, kNodeFile);
    ASSERT_TRUE(words) << words.error().message;
    EXPECT_EQ(*words, (Words{"open", "torque.12[3].srv", "--uid=alice", "--slots=4", "--linger=infinity",
                             "--memory-max=4294967296", "--batch-run-time-max=7200", "--group=users", "--job-name=job",
                             "--queue=batch", "--array-job=12", "--array-task=3", "--nodes=node1,node2", "--node-count=2"}));
    EXPECT_EQ(*openArguments(prologue("1.srv", ""), kSister, ""),
              (Words{"open", "torque.1.srv", "--uid=alice", "--slots=4", "--linger=infinity", "--group=users", "--job-name=job",
                     "--queue=batch"}));
}

TEST(Torque, knowsTheDirectoryOfTheSubmission) {
    auto environment = kSister;
    environment["PBS_O_WORKDIR"] = "/home/alice/a b";
    const auto words = openArguments(prologue("1.srv", ""), environment, "");
    ASSERT_TRUE(words);
    EXPECT_EQ(std::ranges::count(*words, "--submit-directory=/home/alice/a b"), 1);
}

TEST(Torque, namesAtMostSoManyHostsAsAReceiptHasRoomFor) {
    std::string nodeFile;
    for (int n = 0; n < 3000; ++n)
        nodeFile += "node" + std::to_string(n) + "\nnode" + std::to_string(n) + "\n";
    auto arguments = prologue("1.srv", "");
    arguments[7] = "physics";
    const auto words = openArguments(arguments, kMotherSuperior, nodeFile);
    ASSERT_TRUE(words);
    EXPECT_EQ(words->back(), "--node-count=3000");
    EXPECT_LT(words->at(words->size() - 2).size(), 2000U);
    EXPECT_EQ(words->at(words->size() - 3), "--account=physics");
}

TEST(Torque, aPrologueWithoutJobOrUserSaysSo) {
    EXPECT_FALSE(openArguments({"prologue"}, {}, ""));
    EXPECT_FALSE(openArguments({"prologue", "4711.srv"}, {}, ""));
    EXPECT_FALSE(openArguments({"prologue", "4711.srv", ""}, {}, ""));
    const auto words = openArguments(prologue("47 11", ""), {}, "");
    ASSERT_FALSE(words);
    EXPECT_EQ(words.error().code, ErrorCode::InvalidArgument);
}

TEST(Torque, theEpilogueEndsTheJobWithItsExitStatus) {
    EXPECT_EQ(*endArguments(epilogue("3"), kMotherSuperior), (Words{"end", "torque.4711.srv", "--exit-status=3"}));
    EXPECT_EQ(*endArguments(epilogue("271"), kMotherSuperior), (Words{"end", "torque.4711.srv", "--exit-signal=15"}));
    for (const char* overLimit : {"-10", "-11", "-12"})
        EXPECT_EQ(*endArguments(epilogue(overLimit), kMotherSuperior), (Words{"end", "torque.4711.srv", "--exit-signal=15"}));
    for (const char* given_up : {"-3", "-13", "256", "99999", "", "x"})
        EXPECT_EQ(*endArguments(epilogue(given_up), kMotherSuperior), (Words{"end", "torque.4711.srv"})) << given_up;
    EXPECT_FALSE(endArguments({"epilogue"}, {}));
}

TEST(Torque, aSistersExitStatusIsNone) { EXPECT_EQ(*endArguments(epilogue("0"), kSister), (Words{"end", "torque.4711.srv"})); }

TEST(Torque, onlyPbsMomsOwnVariableTellsTheBatchScript) {
    const auto batch =
        startedTask({{"PBS_JOBID", "4711.srv"}, {"PBS_VNODENUM", "0"}, {"PBS_TASKNUM", "1"}, {"PBS_NODENUM", "0"}});
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->key, "torque.4711.srv");
    EXPECT_EQ(batch->role, WrapperRole::Batch);
    // Open MPI starts its daemons with a copy of the batch script's environment.
    const auto spawned =
        startedTask({{"PBS_JOBID", "4711.srv"}, {"PBS_VNODENUM", "4"}, {"PBS_TASKNUM", "1"}, {"PBS_NODENUM", "0"}});
    ASSERT_TRUE(spawned);
    EXPECT_EQ(spawned->role, WrapperRole::Task);
    EXPECT_EQ(startedTask({{"PBS_JOBID", "4711.srv"}})->role, WrapperRole::Task);
}

TEST(Torque, aProcessWithoutJobStartsNothing) {
    EXPECT_FALSE(startedTask({}));
    EXPECT_FALSE(startedTask({{"PBS_JOBID", ""}}));
    EXPECT_FALSE(startedTask({{"PBS_JOBID", "../x"}}));
}

TEST(Torque, aLoginShellIsCalledByItsNameWithADash) {
    EXPECT_EQ(loginName("/bin/bash"), "-bash");
    EXPECT_EQ(loginName("zsh"), "-zsh");
}

TEST(Torque, theJobFileSaysWhoseCookieItIs) {
    const auto found = identity(jobFile("4711.srv", cookieElement(kCookie)), kCookie);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->jobId, "4711.srv");
    EXPECT_EQ(found->uid, 1000U);
    EXPECT_EQ(found->gid, 100U);
}

TEST(Torque, noOtherTextIsTheCookie) {
    const std::string other(32, 'A');
    EXPECT_FALSE(identity(jobFile("1.srv", cookieElement(other)), kCookie));
    EXPECT_FALSE(identity(jobFile("1.srv", ""), kCookie));
    EXPECT_FALSE(identity(jobFile("1.srv", ""), ""));
    EXPECT_FALSE(identity(jobFile("1.srv", cookieElement("")), ""));
    EXPECT_FALSE(identity(jobFile("1.srv", cookieElement("A")), "A"));
    EXPECT_FALSE(
        identity(jobFile("1.srv", "<Job_Name flags=\"1\">&lt;cookie&gt;" + kCookie + "&lt;/cookie&gt;</Job_Name>"), kCookie));
    EXPECT_FALSE(identity(jobFile("1.srv", cookieElement(other) + cookieElement(kCookie)), kCookie)) << "two of them";
}

TEST(Torque, aJobFileWithoutAUserIsNobodys) {
    auto file = jobFile("1.srv", cookieElement(kCookie));
    const auto replaced = [&](const char* from, const char* to) {
        auto copy = file;
        return copy.replace(copy.find(from), std::string_view(from).size(), to);
    };
    EXPECT_TRUE(identity(file, kCookie));
    EXPECT_FALSE(identity(replaced("<execution_uid>1000</execution_uid>", ""), kCookie));
    EXPECT_FALSE(identity(replaced(">1000<", ">4294967295<"), kCookie));
    EXPECT_FALSE(identity(replaced(">1000<", ">-1<"), kCookie));
    EXPECT_FALSE(identity(replaced(">100<", "><"), kCookie));
    EXPECT_FALSE(identity(replaced("1.srv", ""), kCookie));
}

TEST(Torque, takesAnyDamage) {
    Mutator mutator;
    const auto file = jobFile("4711.srv", cookieElement(kCookie));
    for (int i = 0; i < 5000; ++i) {
        const auto resources = mutator.mutate("nodes=2:ppn=4,mem=8gb,pmem=100mw,ncpus=2");
        const auto words = openArguments(prologue("4711.srv", resources), kMotherSuperior, mutator.mutate(kNodeFile));
        ASSERT_TRUE(words) << resources;
        ASSERT_GE(words->size(), 5U);
        const auto found = identity(mutator.mutate(file), kCookie);
        ASSERT_TRUE(!found || !found->jobId.empty());
        (void)startedTask({{"PBS_JOBID", mutator.bytes(40)}, {"PBS_VNODENUM", mutator.bytes(4)}});
        (void)endArguments(epilogue(mutator.bytes(6)), kMotherSuperior);
    }
}

} // namespace
} // namespace pinfold::torque
