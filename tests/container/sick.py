# SPDX-License-Identifier: LGPL-2.1-or-later
"""Breaks one part of the node, and repairs it when the `with` block ends."""

import contextlib
from pathlib import Path

from jobs import daemon_ready, main_pid, run, stopped

LIB = Path("/var/lib/pinfold")


def bus_stands_still():
    return stopped(main_pid("dbus"))


@contextlib.contextmanager
def full(directory):
    """Gives the test a function that fills the file system again. Other programs can have removed files in the meantime."""
    fill = Path(directory) / "fill"

    def again():
        with open(fill, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
    again()
    try:
        yield again
    finally:
        fill.unlink()


def stop_pinfoldd():
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")


def start_pinfoldd():
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")


def hung():
    """pinfoldd answers nothing."""
    return stopped(main_pid())


@contextlib.contextmanager
def down():
    """pinfoldd does not run."""
    stop_pinfoldd()
    try:
        yield
    finally:
        start_pinfoldd()
        daemon_ready()


@contextlib.contextmanager
def small_lib():
    """Gives the history its own file system of 16 MiB."""
    stop_pinfoldd()
    run("mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", LIB)
    start_pinfoldd()
    try:
        yield
    finally:
        stop_pinfoldd()
        run("umount", "-l", LIB)
        start_pinfoldd()


def draining():
    done = run("busctl", "get-property", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Draining", check=False)
    return done.stdout.strip() == "b true"
