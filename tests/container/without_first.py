# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contains a program whose first thread ends. The kernel still shows the cgroup of the first thread as the cgroup of the whole process. cgroup.kill
sends its signal only to the first thread."""

# In WITHOUT_FIRST, the second thread continues after the end of the first thread. The program ignores all signals that can be ignored.
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
ctypes.CDLL(None).syscall(60, 0)  # exit(2) ends only the thread that calls it
"""
