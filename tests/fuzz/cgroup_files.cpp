// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the functions that read the files of a cgroup. Each section of an input has one of the names in kFiles.
#include "fuzz.hpp"
#include "os/cgroup.hpp"

#include <array>

using namespace pinfold;

namespace {

constexpr std::array kFiles{"cgroup.events",
                            "cgroup.procs",
                            "cgroup.threads",
                            "cpu.stat",
                            "cpu.max",
                            "cpu.pressure",
                            "cpuset.cpus.effective",
                            "io.stat",
                            "io.pressure",
                            "memory.current",
                            "memory.peak",
                            "memory.max",
                            "memory.stat",
                            "memory.events",
                            "memory.pressure",
                            "memory.swap.current",
                            "memory.swap.peak",
                            "pids.current",
                            "pids.peak"};

class Cgroup : public fuzz::Tree {
public:
    Cgroup() { std::filesystem::create_directories(directory()); }

    std::filesystem::path directory() const { return top() / "sys/fs/cgroup/job"; }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Cgroup files;
    files.show(fuzz::text(data, size), kFiles, files.directory());
    auto cgroup = CgroupTree(files.top()).open("/job");
    fuzz::require(static_cast<bool>(cgroup), "the cgroup exists");
    for (const auto& pids : {cgroup->processes(), cgroup->threads()})
        if (!pids)
            fuzz::requireOneLine(pids.error());
    (void)cgroup->populated();
    (void)cgroup->frozen();
    (void)cgroup->bounds();
    (void)cgroup->oomCount();
    (void)cgroup->unreclaimableMemory();
    const auto usage = cgroup->usage();
    cgroup->keepFilesOpen();
    fuzz::require(cgroup->usage() == usage, "files that stay open say the same");
    return 0;
}
