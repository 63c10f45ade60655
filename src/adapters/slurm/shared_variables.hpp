// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace pinfold {

/// Passes variables from slurmstepd to the processes of the tasks. slurmstepd forks the processes of the tasks before pinfoldd
/// knows the tasks. The variables go through memory that slurmstepd shares with its child processes. When a child process
/// executes the user's program, the child process loses the shared memory.
class SharedVariables {
public:
    using Variables = std::map<std::string, std::string>;

    SharedVariables() = default;
    ~SharedVariables();
    SharedVariables(const SharedVariables&) = delete;
    SharedVariables& operator=(const SharedVariables&) = delete;

    /// Makes the shared memory. slurmstepd must call prepare() before it forks the tasks.
    Result<void> prepare();

    /// Stores the variables in the memory that slurmstepd shares with its child processes. set() does nothing if prepare() has
    /// not made the shared memory. If the variables are larger than the largest answer of pinfoldd, set() does nothing.
    void set(const Variables& variables);

    /// Returns the variables that slurmstepd has stored by a call of set().
    Variables get() const;

private:
    struct Memory;
    Memory* memory_ = nullptr;
};

} // namespace pinfold
