// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_key.hpp"
#include "tests/support/cpp/mutation.hpp"

#include "base/escape.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

JobKey key(std::string_view text) {
    auto parsed = JobKey::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *std::move(parsed) : JobKey::manual(0);
}

TEST(JobKey, namesItsUnitsAndObject) {
    const auto job = key("sge.4711.3");
    EXPECT_EQ(job.scheduler(), "sge");
    EXPECT_EQ(job.sliceName(), "batch-sge.4711.3.slice");
    EXPECT_EQ(job.scopeName(0), "job-sge.4711.3.scope");
    EXPECT_EQ(job.scopeName(12), "job-sge.4711.3-12.scope");
    EXPECT_EQ(job.objectPath(), "/org/pinfold1/job/sge_2e4711_2e3");
    EXPECT_EQ(key("pbs.12[7].server").sliceName(), "batch-pbs.12\\x5b7\\x5d.server.slice");
}

TEST(JobKey, manualIsAKeyLikeAnyOther) {
    EXPECT_EQ(JobKey::manual(7), key("manual.7"));
    EXPECT_EQ(JobKey::manual(UINT64_MAX), key("manual.18446744073709551615"));
    EXPECT_EQ(JobKey::manual(7).escaped(), key("manual.7").escaped());
}

TEST(JobKey, saysWhichAreForUsers) {
    for (const char* key : {"user.1", "user.x", "manual.x", "manual.1x"})
        EXPECT_TRUE(JobKey::parse(key)->isForUsers()) << key;
    for (const char* key : {"slurm.1", "sge.user.1", "users.1", "manual.1", "manual.007"})
        EXPECT_FALSE(JobKey::parse(key)->isForUsers()) << key;
}

TEST(JobKey, refusesWhatHasNoSchedulerOrId) {
    for (const char* text : {"", ".", "sge", "sge.", ".4711", "Sge.1", "s-ge.1", "s ge.1", "sge/x.1"}) {
        const auto parsed = JobKey::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, ErrorCode::InvalidArgument);
    }
}

TEST(JobKey, everyCharacterIsTakenOrNamedInTheError) {
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const auto text = std::string("sge.a") + c + "b";
        const auto parsed = JobKey::parse(text);
        const bool allowed = byte > 0x20 && byte < 0x7f && c != '/';
        ASSERT_EQ(static_cast<bool>(parsed), allowed) << byte;
        if (parsed) {
            EXPECT_EQ(parsed->text(), text);
            EXPECT_EQ(parsed->escaped().find_first_of("-:/"), std::string::npos) << text;
        } else {
            EXPECT_NE(parsed.error().message.find("'" + printable({&c, 1}) + "'"), std::string::npos) << parsed.error().message;
        }
    }
}

TEST(JobKey, unitNamesStayWithinSystemdsLimit) {
    const auto longest = std::string("sge.") + std::string(JobKey::kMaxEscaped - 4, 'x');
    EXPECT_LE(key(longest).scopeName(UINT32_MAX).size(), 255U);
    EXPECT_LE(key(longest).sliceName().size(), 255U);
    EXPECT_FALSE(JobKey::parse(longest + "x"));
    EXPECT_FALSE(JobKey::parse("sge." + std::string(60, '+'))); // an escaped "+" has four bytes
    EXPECT_TRUE(JobKey::parse("sge." + std::string(56, '+')));
}

TEST(IdentifyUnit, comesBackForEveryPrintableCharacter) {
    for (char c = '!'; c < '\x7f'; ++c) {
        if (c == '/')
            continue;
        const auto job = key(std::string("s1.") + c + ".x" + c);
        const auto slice = identifyUnit(job.sliceName());
        ASSERT_TRUE(slice) << job.sliceName();
        EXPECT_EQ(slice->key, job);
        EXPECT_EQ(slice->task, std::nullopt);
        for (const std::uint32_t task : {0U, 1U, 10U, UINT32_MAX}) {
            const auto scope = identifyUnit(job.scopeName(task));
            ASSERT_TRUE(scope) << job.scopeName(task);
            EXPECT_EQ(scope->key, job);
            EXPECT_EQ(scope->task, task);
        }
    }
}

TEST(IdentifyUnit, refusesNearMisses) {
    for (const char* unit : {"",
                             "batch.slice",
                             "batch-.slice",
                             "batch-a-b.slice",
                             "batch-sge.1-1.slice",
                             "batch-sge.slice",
                             "batch-sge.1.scope",
                             "job-.scope",
                             "job-sge.scope",
                             "job-sge.1",
                             "job-sge.1.slice",
                             "job-sge.1.service",
                             "job-sge.1-0.scope",
                             "job-sge.1-01.scope",
                             "job-sge.1-.scope",
                             "job-sge.1--1.scope",
                             "job-sge.1-+1.scope",
                             "job-sge.1-1-1.scope",
                             "job-sge.1-4294967296.scope",
                             "job-sge.1-99999999999999999999.scope",
                             "job-sge.1-1 .scope",
                             "job-Sge.1.scope",
                             "job-sge.1:2.scope",
                             "job-sge.a\\x41.scope",
                             "job-sge.a\\x5B.scope",
                             "job-sge.a\\x2f.scope",
                             "session-1.scope",
                             "user.slice",
                             "xjob-sge.1.scope",
                             "job-sge.1.scope\n",
                             "run-r1.scope"})
        EXPECT_FALSE(identifyUnit(unit)) << unit;
}

TEST(IdentifyUnit, damagedNamesAreForeignOrCanonical) {
    Mutator mutator;
    for (int i = 0; i < 20000; ++i) {
        const auto unit = mutator.mutate("job-pbs.12\\x5b7\\x5d.server-13.scope");
        if (const auto known = identifyUnit(unit)) {
            EXPECT_EQ(known->task ? known->key.scopeName(*known->task) : known->key.sliceName(), unit);
        }
    }
}

} // namespace
} // namespace pinfold
