// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/job_cgroup.hpp"

#include "model/job_key.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace pinfold {

JobCgroup::JobCgroup(const std::string& key, std::optional<std::uint32_t> task, const std::filesystem::path& root) {
    const auto job = JobKey::parse(key);
    if (!job)
        return;
    auto directory = root / kBatchSlice / job->sliceName();
    if (task)
        directory /= job->scopeName(*task);
    events_.reset(::open((directory / "cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<bool> JobCgroup::populated() const {
    std::array<char, 128> buffer{};
    const auto length = ::pread(events_.get(), buffer.data(), buffer.size(), 0);
    // The kernel removes only empty cgroups, so a cgroup that no longer exists has no processes.
    if (length < 0 && errno == ENODEV)
        return false;
    const std::string_view text(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    for (const bool populated : {false, true})
        if (text.find(populated ? "populated 1\n" : "populated 0\n") != std::string_view::npos)
            return populated;
    return std::nullopt;
}

} // namespace pinfold
