# SPDX-License-Identifier: LGPL-2.1-or-later
"""Acts as a user at a terminal."""

import os
import pty
import select
import time


class Terminal:
    """Runs `command` in its own session on a pseudo terminal."""

    def __init__(self, *command, cwd="/"):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvp(command[0], command)

    def _read(self, end):
        """Returns the next output of the program, or nothing if the program has closed the terminal."""
        assert select.select([self.fd], [], [], max(0, end - time.monotonic()))[0], f"nothing more in time; so far:\n{self.seen}"
        try:
            text = os.read(self.fd, 4096).decode(errors="replace")
        except OSError:
            text = ""
        self.seen += text
        return text

    def read_until(self, text, deadline=90.0):
        end = time.monotonic() + deadline
        while text not in self.seen:
            assert self._read(end), f"ended without '{text}':\n{self.seen}"

    def type(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def status(self, deadline=90.0):
        end = time.monotonic() + deadline
        while self._read(end):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
