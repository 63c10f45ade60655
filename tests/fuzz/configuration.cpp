// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfold reads its configuration files (TOML).
#include "config/config.hpp"
#include "config/config_values.hpp"
#include "fuzz.hpp"

using namespace pinfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static fuzz::Tree tree;
    const auto paths = ConfigPaths::below(tree.top());
    tree.write(paths.admin / "pinfold.toml", std::string(fuzz::text(data, size)));
    const auto loaded = loadConfig(paths);
    if (!loaded)
        fuzz::requireOneLine(loaded.error());
    const auto values = configValues(paths);
    fuzz::require(!loaded || values, "a file that can be loaded can be listed");
    return 0;
}
