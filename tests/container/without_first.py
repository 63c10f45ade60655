# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program whose first thread ends. The kernel says of its process where that thread was, and sends cgroup.kill's signal to it."""

# A thread of it goes on after the first one has ended, and heeds no signal that it can refuse.
WITHOUT_FIRST = """
import ctypes, os, signal, threading, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def goes_on():
    while open("/proc/self/stat").read().rsplit(") ", 1)[1][0] != "Z":
        time.sleep(0.01)
    os.write(1, b"%d\\n" % os.getpid())
    while True:
        time.sleep(1)
threading.Thread(target=goes_on).start()
ctypes.CDLL(None).syscall(60, 0)  # exit(2) of this thread alone
"""
