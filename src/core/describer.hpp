// SPDX-License-Identifier: LGPL-2.1-or-later
// Who processes are, for reports: what the kernel tells only with a lock of the process is read by threads.
#pragma once

#include "core/context.hpp"
#include "os/process.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace pinfold {

class Describer {
public:
    /// What is not known by then stays unknown: some process holds the lock of its memory and hangs. Microseconds.
    static constexpr std::uint64_t kPatience = 1'000'000;

    enum class Depth {
        Command, ///< with the command line
        Stuck,   ///< and with what it hangs in (ProcessTable::readStuck)
    };
    using Done = std::function<void(std::vector<ProcessInfo>)>;

    explicit Describer(CoreContext& context);
    ~Describer();

    /// Begins at once to find out more of processes that ProcessTable::read() has seen, and waits for nothing. `done` gets them
    /// in the same order, within kPatience; it may be called at once. Where the command line can't be had, it is "[name]". `done`
    /// is not called any more when the Describer is gone.
    void describe(std::vector<ProcessInfo> processes, Depth depth, Done done);

private:
    struct Reading;
    struct Batch;
    struct Request;
    void finish(const std::shared_ptr<Request>& request);

    CoreContext& context_;
    std::shared_ptr<Reading> reading_; ///< with the threads, which may outlive us
    std::set<std::shared_ptr<Request>> requests_;
};

} // namespace pinfold
