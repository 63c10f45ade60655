# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program whose first thread ends. The kernel then shows the cgroup in which the first thread was for the whole process, and sends
cgroup.kill's signal to this thread."""

# A thread of it continues after the first thread has ended, and ignores all signals that can be ignored.
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
