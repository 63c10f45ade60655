// SPDX-License-Identifier: LGPL-2.1-or-later
// sge_execd runs grid-engine-shepherd in place of sge_shepherd (shepherd_cmd in sge_conf(5)). grid-engine-shepherd runs the real
// sge_shepherd in the job's scope, and waits until no process of the job is left. At the end, grid-engine-shepherd writes the
// files from which sge_execd reads how the job ended.
#pragma once

#include "adapters/grid_engine/jobs_output.hpp"
#include "adapters/grid_engine/outcome.hpp"
#include "adapters/grid_engine/spool_directory.hpp"
#include "adapters/grid_engine/suspension.hpp"
#include "adapters/grid_engine/translate.hpp"
#include "base/result.hpp"
#include "wrapper/supervisor.hpp"
#include "wrapper/wrapped_command.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

class Shepherd {
public:
    /// `argc` and `argv` are the arguments of main(). sge_execd starts the program with the real user id of root, and with the
    /// effective user id of Grid Engine's admin user.
    Shepherd(int argc, char** argv);

    /// Runs the job and returns the exit status. If a signal ended the real shepherd, run() ends grid-engine-shepherd by the same
    /// signal, and does not return.
    int run();

private:
    Result<void> readJob();
    void makeCommand();
    SupervisorDuties duties();
    void becomeAdmin() const;
    bool nameUsAsTheShepherd();
    void report(const WrapperReply& words, const ExitState& exit);
    int putBack(GridEngineVerdict verdict, const std::string& why);

    uid_t admin_;
    std::vector<char*> command_; ///< the command line of the real shepherd, with a null pointer at the end
    std::uint64_t started_;      ///< when this program started (CLOCK_REALTIME, seconds)
    SpoolDirectory spool_;
    GridEngineJob job_;
    JobOwner owner_;
    std::string program_;
    WrappedCommand wrapped_;
    Suspension suspension_;
};

} // namespace pinfold
