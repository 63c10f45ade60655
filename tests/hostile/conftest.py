# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable

disposable.require()


def pytest_terminal_summary(terminalreporter, config):
    for line in getattr(config, "hostile_summary", []):
        terminalreporter.write_line(line)
