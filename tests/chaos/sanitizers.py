# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prepares the node for a pinfoldd that was built with sanitizers (-Db_sanitize=address,undefined). The sanitizers write their reports to the
journal."""

import os
from pathlib import Path

from jobs import run

# With detect_leaks=1, the sanitizer would look for leaks when pinfoldd ends. The search for leaks needs ptrace(2), but the unit's sandbox forbids
# ptrace(2). In the suites `unit` and `bus`, the sanitizer looks for leaks.
OPTIONS = "detect_leaks=0"
DROP_IN = Path("/etc/systemd/system/pinfoldd.service.d/sanitizers.conf")


def prepare():
    if b"__asan_init" not in Path("/usr/libexec/pinfoldd").read_bytes():  # clang++ links its sanitizers statically
        return
    os.environ["ASAN_OPTIONS"] = OPTIONS
    DROP_IN.parent.mkdir(parents=True, exist_ok=True)
    DROP_IN.write_text(f"[Service]\nEnvironment=ASAN_OPTIONS={OPTIONS} UBSAN_OPTIONS=print_stacktrace=1\n", encoding="utf-8")
    run("systemctl", "daemon-reload")
