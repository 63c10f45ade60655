// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfold reads records of /dev/kmsg. Users choose the names of processes and cgroups in the records. In the input,
// each line that does not begin with a blank begins a record. A line that begins with a blank continues the previous record.
#include "os/kernel_log.hpp"
#include "fuzz.hpp"

#include <sys/socket.h>

#include <array>

using namespace pinfold;

namespace {

void requireFit(const OomReport& report) { fuzz::requireOneLine({ErrorCode::Internal, report.name}); }

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::array<int, 2> ends{};
    fuzz::require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0, "there are sockets");
    KernelLog log{UniqueFd(ends[0])};
    const UniqueFd writer(ends[1]);
    log.onOom = requireFit;

    std::string record;
    const auto give = [&] {
        if (!record.empty() && ::send(writer.get(), record.data(), record.size(), 0) >= 0)
            log.drain();
        record.clear();
    };
    fuzz::forEachLine(fuzz::text(data, size), [&](std::string_view line) {
        if (!line.starts_with(' '))
            give();
        record.append(line).append("\n");
    });
    give();
    return 0;
}
