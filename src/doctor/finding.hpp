// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold::doctor {

enum class FindingState { Ok, Warn, Fail };

std::string_view toString(FindingState state);

/// Holds the result of one check. Each text in a Finding is a single line that is safe to print on a terminal.
struct Finding {
    std::string id; ///< the id of the check, for example "cgroup.version"; an id never changes its meaning
    FindingState state;
    std::string found;
    std::string remedy; ///< a command or a line of configuration that fixes the problem; empty if there is no problem
    std::string where;  ///< the file or the unit that the finding is about; may be empty
};

class Findings {
public:
    void ok(std::string id, const std::string& found, const std::string& where = {}) {
        add(FindingState::Ok, std::move(id), found, {}, where);
    }
    void warn(std::string id, const std::string& found, const std::string& remedy, const std::string& where = {}) {
        add(FindingState::Warn, std::move(id), found, remedy, where);
    }
    void fail(std::string id, const std::string& found, const std::string& remedy, const std::string& where = {}) {
        add(FindingState::Fail, std::move(id), found, remedy, where);
    }
    void add(FindingState state, std::string id, const std::string& found, const std::string& remedy, const std::string& where);
    /// Adds the finding of a check that could not be made, because only root is allowed to read the necessary information. The
    /// finding has the state Warn, and not Ok, because the result of the check is not known.
    void needsRoot(std::string id, const std::string& where) {
        warn(std::move(id), "not known: only root may check this", "run `pinfold doctor` as root", where);
    }

    const std::vector<Finding>& list() const { return list_; }

private:
    std::vector<Finding> list_;
};

} // namespace pinfold::doctor
