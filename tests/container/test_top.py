# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold top` with real jobs: the resource use on the screen, and the state of the terminal when the program ends."""

import codecs
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from jobs import BATCH, as_alice, finish, live_jobs, processes_with, run, start_job, wait_running, wait_until

LOOP = "while :; do :; done"


@contextlib.contextmanager
def jobs(**commands):
    started = {key.replace("_", "."): start_job(key.replace("_", "."), "sh", "-c", command) for key, command in commands.items()}
    try:
        for key in started:
            wait_running(key)
        yield started
    finally:
        for key in started:
            run("pinfold", "stop", "--wait", key, check=False)
        for job in started.values():
            finish(job)


def documents(text):
    """Returns the JSON documents in the text."""
    decoder, found = json.JSONDecoder(), []
    while text.strip():
        document, end = decoder.raw_decode(text.lstrip())
        found.append(document)
        text = text.lstrip()[end:]
    return found


def top(*options):
    return [{job["key"]: job for job in document["jobs"]} for document in documents(run("pinfold", "top", "--json", *options).stdout)]


def test_a_busy_loop_and_a_sleeper():
    with jobs(top_busy=LOOP, top_idle="exec sleep 1000"):
        answers = documents(run("pinfold", "top", "--json", "-n", 3, "-d", 1).stdout)
        looks = [{job["key"]: job for job in document["jobs"]} for document in answers]
        assert len(looks) == 3
        for number in (1, 2):
            # The loop uses all CPU time that the other programs of the machine do not use. The kernel counts how much CPU time the loop got.
            elapsed = answers[number]["at"] - answers[number - 1]["at"]
            had = looks[number]["top.busy"]["cpu_time"] - looks[number - 1]["top.busy"]["cpu_time"]
            assert looks[number]["top.busy"]["cpu_percent"] == pytest.approx(100 * had / elapsed, rel=0.1)
            assert looks[number]["top.busy"]["cpu_percent"] < 110
        assert all(look["top.idle"]["cpu_percent"] < 2 for look in looks[1:])
        lines = run("pinfold", "top", "-b", "-n", 2, "-d", 0.5).stdout.split("\n\n")
        assert len(lines) == 2 and "\x1b" not in "".join(lines)
        summary, header, first, second = lines[1].strip().split("\n")
        assert header.split()[:4] == ["KEY", "USER", "STATE", "CPU%"]
        assert [first.split()[0], second.split()[0]] == ["top.busy", "top.idle"], "by CPU"
        assert "2 jobs, 2 running" in summary and summary.endswith("by cpu")
        assert float(second.split()[3]) < 2


def test_what_the_kernel_counts_is_what_is_shown():
    with jobs(top_one="sleep 1000.9 & sleep 1000.9 & wait"):
        wait_until(lambda: len(processes_with("sleep\x001000.9")) == 2, "the two processes that the shell starts")
        [look] = top("-n", 1)
        slice_ = BATCH / "batch-top.one.slice"
        for name, file in (("tasks_current", "pids.current"), ("memory_current", "memory.current"), ("memory_peak", "memory.peak")):
            if (slice_ / file).exists():
                assert look["top.one"][name] == pytest.approx(int((slice_ / file).read_text()), rel=0.1), name
            else:
                assert look["top.one"][name] is None, name


def test_order_users_and_suspension():
    with jobs(top_b="exec sleep 1000", top_a="exec sleep 1000"):
        lines = run("pinfold", "top", "--no-legend", "-n", 1, "-s", "key").stdout.splitlines()
        assert [line.split()[0] for line in lines] == ["top.a", "top.b"]
        assert run("pinfold", "top", "--no-legend", "-n", 1, "-u", "nobody").stdout == ""
        pairs = run("pinfold", "top", "-P", "-n", 1, "-s", "key").stdout.splitlines()
        assert [line.split()[0] for line in pairs] == ['KEY="top.a"', 'KEY="top.b"'] and all('CPU_PERCENT="' in line for line in pairs)
        run("pinfold", "suspend", "top.a")
        [look] = top("-n", 1)
        assert (look["top.a"]["state"], look["top.b"]["state"]) == ("suspended", "running")
        run("pinfold", "resume", "top.a")


def test_jobs_that_come_and_go():
    watcher = subprocess.Popen(["pinfold", "top", "-b", "--no-legend", "-d", "0.1"], stdout=subprocess.PIPE, text=True)
    seen = []

    def shows(key):
        ready, _, _ = select.select([watcher.stdout], [], [], 20)
        assert ready, f"nothing more; so far {seen[-5:]}"
        seen.append(watcher.stdout.readline())
        return seen[-1].startswith(key)

    for number in range(3):
        key = f"top.come{number}"
        job = start_job(key, "sleep", "1000")
        wait_until(lambda: shows(key), f"{key} shown")
        wait_until(lambda: shows(key) and " running " in seen[-1], f"{key} shown as running")
        job.terminate()
        job.communicate()
        wait_until(lambda: seen[-1] == "\n" and shows("\n") or (shows("") and False), f"{key} gone")  # two successive screens do not show the job
    watcher.kill()
    watcher.wait()
    watcher.stdout.close()
    assert live_jobs() == {}


def test_without_pinfoldd():
    with jobs(top_left="exec sleep 1000"):
        watcher = subprocess.Popen(["pinfold", "top", "-b", "-d", "0.2"], stdout=subprocess.PIPE, text=True)
        while not watcher.stdout.readline().startswith("top.left"):
            pass
        run("systemctl", "restart", "pinfoldd")
        for _ in range(50):
            if watcher.stdout.readline().startswith("top.left"):
                break
        else:
            raise AssertionError("the job is shown no more")
        watcher.kill()
        watcher.communicate()


class OnTerminal:
    """Runs pinfold top on a pseudo terminal, in its own session."""

    def __init__(self, *options, term="xterm", columns=120, characters="C.UTF-8", command=("pinfold",)):
        self.main, side = pty.openpty()
        self.side = side
        self.resize(30, columns)
        self.before = termios.tcgetattr(side)
        self.process = subprocess.Popen([*command, "top", "-d", "3600", *options], stdin=side, stdout=side, stderr=side,
                                        env={**os.environ, "TERM": term, "LC_ALL": characters}, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.text = ""

    def resize(self, lines, columns):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def until(self, text):
        end = time.monotonic() + 20
        while text not in self.text:
            ready, _, _ = select.select([self.main], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {text!r} in {self.text!r}"
            self.text += self.decoder.decode(os.read(self.main, 65536))
        before, self.text = self.text.split(text, 1)
        return before

    def key(self, key):
        os.write(self.main, key.encode())

    def settings(self):
        return termios.tcgetattr(self.side)

    def expect_restored(self):
        self.until("\x1b[?25h\x1b[?1049l")
        assert self.settings() == self.before

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.main)
        os.close(self.side)


@pytest.fixture
def terminal():
    with jobs(top_shown="exec sleep 1000"):
        with contextlib.closing(OnTerminal()) as terminal:
            terminal.until("\x1b[?1049h")
            terminal.until("top.shown")
            assert not terminal.settings()[3] & (termios.ICANON | termios.ECHO)
            yield terminal


def test_q_restores_the_terminal(terminal):
    terminal.key("q")
    assert terminal.process.wait(timeout=20) == 0
    terminal.expect_restored()


def test_ctrl_c_restores_the_terminal(terminal):
    terminal.key("\x03")
    assert terminal.process.wait(timeout=20) == -signal.SIGINT
    terminal.expect_restored()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_restores_the_terminal(terminal, number):
    terminal.process.send_signal(number)
    assert terminal.process.wait(timeout=20) == -number
    terminal.expect_restored()


def test_keys_and_a_resize(terminal):
    terminal.key("m")
    terminal.until("by memory")
    terminal.key("T")
    terminal.until("by time")
    terminal.key(" ")
    terminal.until("top.shown")
    terminal.resize(2, 20)
    terminal.until("\x1b[H")
    terminal.until("\x1b[J")
    terminal.resize(30, 120)
    terminal.until("top.shown")


# A frame is what pinfold top writes for one refresh.
FRAME_ENDS = "\x1b[J"
BLOCKS = " ▁▂▃▄▅▆▇█"


def histories(frame, key):
    """Returns the text under the headers MEM HISTORY and CPU HISTORY in the line of the job."""
    lines = [re.sub("\x1b\\[.*?[A-Za-z]", "", line) for line in frame.splitlines()]
    header = next(line for line in lines if line.startswith("KEY "))
    row = next(line for line in lines if line.startswith(key + " ")).ljust(len(header) + 1)
    memory, cpu = header.index("MEM HISTORY"), header.index("CPU HISTORY")
    return row[memory:cpu - 2], row[cpu:]


def test_the_histories_of_a_job_that_begins_to_work_late():
    """The job sleeps until pinfoldd has measured the job's resource use once. The job then uses CPU time until the next measurement of pinfoldd."""
    job = start_job("top.late", "sh", "-c", f"read line; {LOOP}", stdin=subprocess.PIPE)

    def cpu():
        return json.loads(run("pinfold", "plot", "--json", "top.late").stdout)["cpu"]["max"]

    try:
        wait_running("top.late")
        wait_until(cpu, "pinfoldd has looked at the idle job")
        job.stdin.write("\n")
        job.stdin.flush()
        # The curve has eight different heights. If the highest value is nine times as large as the first value, the curve begins at the lowest of the
        # eight heights.
        wait_until(lambda: max(cpu()) > max(100_000, 9 * cpu()[0]), "pinfoldd has looked at the busy job")
        with contextlib.closing(OnTerminal(columns=200)) as terminal:
            memory, busy = histories(terminal.until(FRAME_ENDS), "top.late")
            assert len(busy) == 12 and set(busy) <= set(BLOCKS) and busy[0] in " ▁" and "█" in busy, busy
            assert len(memory) == 12 and set(memory) <= set(BLOCKS), memory
            terminal.resize(30, 100)
            assert "HISTORY" not in terminal.until(FRAME_ENDS), "there is no room"
        with contextlib.closing(OnTerminal(columns=200, command=as_alice("pinfold"))) as terminal:
            assert [text.strip() for text in histories(terminal.until(FRAME_ENDS), "top.late")] == ["-", "-"], "the job is not hers"
        with contextlib.closing(OnTerminal(columns=200, characters="C")) as terminal:
            frame = terminal.until(FRAME_ENDS)
            assert "top.late" in frame and "HISTORY" not in frame and frame.isascii(), frame
    finally:
        run("pinfold", "stop", "--wait", "top.late", check=False)
        finish(job)


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def test_it_leaves_the_screen_while_it_is_stopped(terminal):
    pid = terminal.process.pid
    # The process group of `pinfold top` is orphaned, because the parent is in another session. A terminal does not stop an orphaned process group, so
    # `pinfold top` continues.
    terminal.process.send_signal(signal.SIGTSTP)
    terminal.until("\x1b[?1049l")
    terminal.until("\x1b[?1049h")
    terminal.until("top.shown")
    terminal.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: state(pid) == "T", "stopped")
    termios.tcsetattr(terminal.side, termios.TCSANOW, terminal.before)  # when a job stops, a shell restores the terminal's settings
    terminal.process.send_signal(signal.SIGCONT)
    terminal.until("\x1b[?1049h")
    terminal.until("top.shown")
    assert not terminal.settings()[3] & termios.ICANON
    terminal.key("q")
    assert terminal.process.wait(timeout=20) == 0
    terminal.expect_restored()


def test_a_dumb_terminal_gets_plain_lines():
    with jobs(top_shown="exec sleep 1000"), contextlib.closing(OnTerminal("-n", "1", term="dumb")) as terminal:
        assert terminal.process.wait(timeout=20) == 0
        terminal.until("top.shown")
        assert "\x1b" not in terminal.text
        assert terminal.settings() == terminal.before
