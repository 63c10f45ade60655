// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfold reads the files of Grid Engine's spool directory. Users can add lines to the files. The sections of an input
// are config, usage, and directory (the path of the directory).
#include "adapters/grid_engine/outcome.hpp"
#include "adapters/grid_engine/translate.hpp"
#include "fuzz.hpp"

using namespace pinfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto sections = fuzz::sections(fuzz::text(data, size));
    const auto config = GridEngineConfig::parse(sections["config"]);
    auto directory = sections["directory"];
    directory = directory.substr(0, directory.find('\n'));
    if (const auto job = readGridEngineJob(directory, config); !job)
        fuzz::requireOneLine(job.error());
    else
        fuzz::require(job->key.starts_with("sge.") && !job->owner.empty(), "a job has a key and an owner");

    const auto& usage = sections["usage"];
    (void)exitFromUsage(usage);
    Receipt receipt;
    receipt.usage.cpuUser = 1500ms;
    receipt.usage.memoryPeak = 8 << 20;
    fuzz::require(usageWithReceipt(usage, receipt).size() <= usage.size() + 64, "the file usage keeps its lines");
    return 0;
}
