# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a process whose file /proc/PID/maps is very long. When pinfold searches for files in use, it reads only a part of a very long /proc/PID/maps.
If this module runs as a script, the script's own process gets the long /proc/PID/maps."""

import contextlib
import ctypes
import mmap
import os
import shutil
import subprocess
import sys

DIRECTORY = "/tmp/endless"


@contextlib.contextmanager
def endless_mappings(user):
    process = subprocess.Popen(["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "/usr/bin/python3", __file__],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        yield
    finally:
        process.communicate()
        shutil.rmtree(DIRECTORY)


def map_endlessly():
    """Makes 20,000 mappings of a file. The path of the file has 4,000 characters. The kernel writes each character of the path as four characters
    into /proc/PID/maps."""
    os.mkdir(DIRECTORY)
    os.chdir(DIRECTORY)
    for _ in range(16):
        os.mkdir("\n" * 250)
        os.chdir("\n" * 250)
    libc = ctypes.CDLL(None)  # the module `mmap` would need a descriptor for each mapping
    with open("f", "w+b") as file:
        file.truncate(mmap.PAGESIZE * 40000)
        for page in range(20000):
            libc.mmap(None, ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), ctypes.c_long(2 * page * mmap.PAGESIZE))
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    map_endlessly()
