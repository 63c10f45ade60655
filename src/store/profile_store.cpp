// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/profile_store.hpp"

#include "os/read_file.hpp"
#include "os/replace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

namespace pinfold {

Result<void> ProfileStore::save(const JobKey& key, const std::string& id, const ProfileRecorder& recorder) const {
    std::error_code error; // if create_directory() fails, save() later reports that it cannot write the file
    if (std::filesystem::create_directory(directory_, error))
        std::filesystem::permissions(directory_, std::filesystem::perms::owner_all, error);
    return replaceFile(fileOf(key), encode(id, recorder), 0600);
}

std::optional<ProfileRecorder> ProfileStore::load(const JobKey& key, const std::string& id) const {
    const auto text = readFile(AT_FDCWD, fileOf(key).c_str());
    auto recorder = text ? decodeRecorder(id, *text) : Result<ProfileRecorder>(Error{ErrorCode::NoSuchJob, ""});
    return recorder ? std::optional(*std::move(recorder)) : std::nullopt;
}

void ProfileStore::remove(const JobKey& key) const {
    (void)::unlink(fileOf(key).c_str()); // if the removal fails, the file does no harm, because load() checks the id of the job
}

} // namespace pinfold
