// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/error_code.hpp"
#include "build_config.hpp"
#include "run/options.hpp"
#include "socket_client/say.hpp"
#include "wrapper/in_place.hpp"
#include "wrapper/standard_streams.hpp"
#include "wrapper/supervisor.hpp"

#include <cstdio>
#include <exception>

namespace {

int run(int argc, char** argv) {
    const auto options = pinfold::parseRunOptions(argc, argv);
    if (!options) {
        pinfold::say(options.error().message);
        return pinfold::kRunFailed;
    }
    if (options->help) {
        std::fputs(pinfold::runUsage().c_str(), stdout);
        return 0;
    }
    if (options->version) {
        std::puts("pinfold-run " PINFOLD_VERSION);
        return 0;
    }
    const auto command = pinfold::wrappedCommand(*options);
    return options->inPlace ? pinfold::runInPlace(command) : pinfold::Supervisor(command).run();
}

} // namespace

int main(int argc, char** argv) {
    pinfold::occupyStandardStreams();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pinfold-run: unexpected error: %s\n", error.what());
        return pinfold::kRunFailed;
    }
}
