// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/outcome.hpp"
#include "adapters/grid_engine/shepherd.hpp"
#include "wrapper/standard_streams.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    pinfold::occupyStandardStreams();
    try {
        return pinfold::Shepherd(argc, argv).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "grid-engine-shepherd: unexpected error: %s\n", error.what());
        return static_cast<int>(pinfold::GridEngineVerdict::TryAgain);
    }
}
