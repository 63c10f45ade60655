// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/cpu_allocator.hpp"

#include "tests/support/cpp/fake_topology.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

namespace pinfold {
namespace {

using test::cpusWith;
using test::makeTopology;
using test::Numbering;
using test::Shape;
using test::withoutCpus;

/// Lets jobs begin and end on a node with a random topology. A second implementation of the allocator's rules looks at
/// the cores one by one, and checks each allocation.
class Random {
public:
    explicit Random(unsigned seed) : generator_(seed) {
        shape_ = {.packages = upTo(2),
                  .nodesPerPackage = upTo(2),
                  .l3sPerNode = upTo(3),
                  .coresPerL3 = upTo(4),
                  .threads = upTo(4),
                  .numbering = upTo(2) == 1 ? Numbering::Adjacent : Numbering::Interleaved};
        topology_ = makeTopology(shape_);
        topology_ = withoutCpus(topology_, some(upTo(3) == 1 ? 8 : 0));
        usable_ = topology_.all().without(some(upTo(3) == 1 ? 8 : 0));
        mode_ = std::array{HyperThreads::Count, HyperThreads::Share, HyperThreads::Idle}[upTo(3) - 1];
        for (const auto& place : topology_.cpus)
            cores_.emplace(place.core, cpusWith(topology_, &CpuPlace::core, place.core));
    }
    void step() {
        if (upTo(3) == 1 && !jobs_.empty()) {
            jobs_.erase(jobs_.begin() + upTo(static_cast<unsigned>(jobs_.size())) - 1);
            return;
        }
        const CpuRequest request{.cpus = upTo(upTo(2) == 1 ? 4 : 40), .exclusive = upTo(20) == 1};
        const auto result = allocateCpus(topology_, usable_, taken(), request, mode_);
        const auto total = room({});
        const auto free = room(taken());
        if (request.cpus > total)
            return expectCode(result, ErrorCode::LimitInvalid);
        if (request.cpus > free || (request.exclusive && !taken().empty()))
            return expectCode(result, ErrorCode::Busy);
        ASSERT_TRUE(result) << result.error().message;
        check(*result, request.exclusive ? total : request.cpus);
        if (request.exclusive) {
            EXPECT_EQ(result->reserved, usable_);
        }
        jobs_.push_back(*result);
        ++given_;
    }
    int given() const { return given_; }

private:
    unsigned upTo(unsigned most) { return static_cast<unsigned>(generator_() % most) + 1; }
    /// The parameter `one` is a number N. The function takes each CPU except the node's first CPU with the probability 1/N. If N
    /// is 0, the function takes no CPU.
    CpuList some(unsigned one) {
        std::vector<unsigned> numbers;
        for (std::size_t i = 1; one > 0 && i < topology_.cpus.size(); ++i)
            if (upTo(one) == 1)
                numbers.push_back(topology_.cpus[i].cpu);
        return CpuList::of(numbers);
    }
    CpuList taken() const {
        CpuList taken;
        for (const auto& job : jobs_)
            taken = taken.united(job.reserved);
        return taken;
    }
    unsigned sizeOf(const CpuList& core) const {
        const auto mine = core.intersected(usable_);
        return mode_ == HyperThreads::Count ? static_cast<unsigned>(mine.count()) : mine == core ? 1 : 0;
    }
    /// Counts the free CPUs of the list `where`. If this list is empty, the function counts all free CPUs.
    unsigned room(const CpuList& taken, const CpuList& where = {}) const {
        unsigned sum = 0;
        for (const auto& [number, core] : cores_)
            if (core.intersected(taken).empty() && (where.empty() || where.contains(number)))
                sum += sizeOf(core);
        return sum;
    }
    /// Counts the free CPUs in each place, for example in each L3 cache, and returns the largest count. For the L3 caches,
    /// `member` is CpuPlace::l3.
    unsigned roomInOne(unsigned CpuPlace::*member, const CpuList& taken) const {
        std::map<unsigned, CpuList> places;
        for (const auto& place : topology_.cpus)
            if (!places.contains(place.*member))
                places[place.*member] = cpusWith(topology_, member, place.*member);
        unsigned most = 0;
        for (const auto& [number, cpus] : places)
            most = std::max(most, room(taken, cpus));
        return most;
    }
    std::size_t spanOf(unsigned CpuPlace::*member, const CpuList& cpus) const {
        std::set<unsigned> values;
        for (const auto& place : topology_.cpus)
            if (cpus.contains(place.cpu))
                values.insert(place.*member);
        return values.size();
    }
    void check(const CpuAllocation& job, unsigned wanted) const {
        EXPECT_EQ(job.reserved.intersected(taken()), CpuList()) << "handed out twice";
        EXPECT_TRUE(job.reserved.contains(job.cpus));
        EXPECT_TRUE(usable_.contains(job.reserved));
        unsigned size = 0;
        for (const auto& [number, core] : cores_) {
            const auto mine = core.intersected(job.cpus);
            if (mine.empty())
                continue;
            const auto all = core.intersected(usable_);
            EXPECT_EQ(mine.count(), mode_ == HyperThreads::Idle ? 1 : all.count()) << "no whole core";
            EXPECT_TRUE(job.reserved.contains(all));
            EXPECT_GT(sizeOf(core), 0U);
            size += sizeOf(core);
        }
        EXPECT_GE(size, wanted);
        EXPECT_LT(size, wanted + (mode_ == HyperThreads::Count ? shape_.threads : 1)) << "more than rounding up";
        for (const auto member : {&CpuPlace::l3, &CpuPlace::node, &CpuPlace::package})
            if (roomInOne(member, taken()) >= wanted) {
                EXPECT_EQ(spanOf(member, job.cpus), 1U) << "spread without need";
            }
        for (const auto& place : topology_.cpus)
            EXPECT_EQ(job.memoryNodes.contains(place.node),
                      !cpusWith(topology_, &CpuPlace::node, place.node).intersected(job.cpus).empty());
    }
    static void expectCode(const Result<CpuAllocation>& result, ErrorCode code) {
        ASSERT_FALSE(result) << result->cpus.toString();
        EXPECT_EQ(result.error().code, code) << result.error().message;
    }

    std::mt19937 generator_;
    Shape shape_;
    Topology topology_;
    CpuList usable_;
    HyperThreads mode_ = HyperThreads::Count;
    std::map<unsigned, CpuList> cores_; // the CPUs of each core
    std::vector<CpuAllocation> jobs_;
    int given_ = 0;
};

TEST(CpuAllocatorRules, holdOnAnyNode) {
    int given = 0;
    for (unsigned seed = 0; seed < 150 && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random node(seed);
        for (int i = 0; i < 25; ++i)
            node.step();
        given += node.given();
    }
    EXPECT_GT(given, 500) << "most of the test was refused";
}

} // namespace
} // namespace pinfold
