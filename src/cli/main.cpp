// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/become_archive_admin.hpp"
#include "cli/become_run.hpp"
#include "cli/command_line.hpp"

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <exception>

namespace {

/// Returns the exit status. If pinfold could not write its whole output, for example to a full disk, the exit status is a
/// failure. If the exit status were 0, the user could believe that the output is complete.
int endWith(int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
        return status;
    std::fprintf(stderr, "pinfold: the output is not complete: %s\n", std::strerror(errno));
    return static_cast<int>(pinfold::ExitStatus::Failed);
}

} // namespace

int main(int argc, char** argv) {
    // pinfold uses the user's locale only for character types (LC_CTYPE). The format of numbers must not change with the
    // locale, because scripts read the numbers.
    std::setlocale(LC_CTYPE, "");
    pinfold::becomeArchiveAdmin(argc, argv);
    argc = pinfold::becomePinfoldRun(argc, argv);
    try {
        auto parsed = pinfold::parseCommandLine(argc, argv);
        if (const auto* early = std::get_if<pinfold::EarlyExit>(&parsed)) {
            std::fputs(early->text.c_str(), early->status == 0 ? stdout : stderr);
            return endWith(early->status);
        }
        const auto& line = std::get<pinfold::CommandLine>(parsed);
        return endWith(static_cast<int>(line.verb.run(pinfold::VerbContext(line.output))));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pinfold: unexpected error: %s\n", error.what());
        return static_cast<int>(pinfold::ExitStatus::Failed);
    }
}
