# SPDX-License-Identifier: LGPL-2.1-or-later
"""Under pinfold-run, a command must behave as it does without pinfold-run. For the program that starts pinfold-run, pinfold-run must behave like the
command."""

import contextlib
import ctypes
import json
import os
import re
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from jobs import expect_nothing_left, finish, receipts, run, start_job, wait_running, wait_until

MODES = [[], ["--exec"]]
PYTHON = "/usr/bin/python3"

# Prints as JSON what a process inherits.
INHERITED = """
import json, os, resource, sys
status = open('/proc/self/status').read()
field = lambda name: next(line.split()[1] for line in status.splitlines() if line.startswith(name + ':'))
old = os.umask(0)
print(json.dumps({
    'SigBlk': field('SigBlk'), 'SigIgn': field('SigIgn'), 'umask': old, 'nice': os.nice(0), 'cwd': os.getcwd(), 'sid': os.getsid(0),
    'pgrp': os.getpgrp(), 'nofile': resource.getrlimit(resource.RLIMIT_NOFILE), 'environ': dict(os.environ), 'argv': sys.argv,
    'fds': sorted(int(fd) for fd in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{fd}')),
}))
"""


def inherited(*prefix):
    def odd_parent():
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})
        resource.setrlimit(resource.RLIMIT_NOFILE, (123, 456))
        os.umask(0o037)
        os.nice(3)

    # Python ignores SIGPIPE. Python makes its children ignore SIGPIPE, unless the caller asks Python to restore the signal.
    done = subprocess.run([*prefix, PYTHON, "-c", INHERITED, "an argument", ""], capture_output=True, text=True, preexec_fn=odd_parent,
                          cwd="/usr", env={"ODD": "a\nb", "PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL, timeout=60)
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("mode", MODES, ids=["supervise", "exec"])
def test_the_command_inherits_all(mode):
    there = inherited("pinfold-run", *mode, "--")
    assert re.fullmatch(r"manual\.\d+", there["environ"].pop("PINFOLD_JOB"))
    assert there == inherited()


@pytest.mark.parametrize("mode", MODES, ids=["supervise", "exec"])
def test_arguments_up_to_the_kernels_limit(mode):
    arguments = ["x" * 131000] * 14  # the arguments need 1.8 MB; with a stack of 8 MiB, the kernel allows 2 MB
    script = "import sys, hashlib; print(len(sys.argv), hashlib.md5(repr(sys.argv[1:]).encode()).hexdigest())"
    plain = run(PYTHON, "-c", script, *arguments).stdout
    assert run("pinfold-run", *mode, "--", PYTHON, "-c", script, *arguments).stdout == plain


@pytest.mark.parametrize("number", [s for s in range(1, 65) if s not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, 32, 33)])
def test_every_signal_is_forwarded(number):
    # The program waits for the signal by sigwait(). The program does not use pause() with a signal handler. If a signal comes right before pause(),
    # Python runs the handler only after pause() has returned.
    script = (f"import signal, os\nsignal.pthread_sigmask(signal.SIG_BLOCK, {{{number}}})\nos.write(1, b'ready\\n')\n"
              f"os.write(1, b'got %d\\n' % signal.sigwait({{{number}}}))")
    job = start_job(f"fwd.{number}", PYTHON, "-c", script)
    assert job.stdout.readline() == "ready\n"
    os.kill(job.pid, number)
    status, out, err = finish(job)
    assert (status, out) == (0, f"got {number}\n"), err


def test_a_queued_signal_keeps_its_value():
    script = ("import signal, os\nsignal.pthread_sigmask(signal.SIG_BLOCK, {34})\nos.write(1, b'ready\\n')\n"
              "info = signal.sigwaitinfo({34})\nprint(info.si_code, flush=True)")
    job = start_job("fwd.queue", PYTHON, "-c", script)
    assert job.stdout.readline() == "ready\n"
    ctypes.CDLL(None).sigqueue(job.pid, 34, ctypes.c_void_p(4711))
    assert finish(job)[1] == "-1\n", "SI_QUEUE"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGUSR1, 40])
def test_ends_by_the_same_signal(number):
    status, _, _ = finish(start_job(f"sig.{int(number)}", "sh", "-c", f"kill -{int(number)} $$"))
    assert status == -number
    receipt = receipts(f"sig.{int(number)}")[0]
    assert (receipt["result"], receipt["exit_signal"]) == ("signaled", number)


@pytest.mark.parametrize("status", [1, 99, 100, 125, 126, 127, 255])
def test_the_jobs_own_status_whatever_it_is(status):
    assert finish(start_job(f"own.{status}", "sh", "-c", f"exit {status}"))[0] == status


def test_under_another_name_no_argument_is_an_option(tmp_path):
    starter = tmp_path / "job_starter"
    starter.symlink_to("/usr/bin/pinfold-run")
    assert run(starter, "sh", "-c", "echo $0 $1", "--job", "--help").stdout == "--job --help\n"
    done = run(starter, "--help", check=False)
    assert done.returncode == 127 and "--help: No such file" in done.stderr
    done = run(starter, check=False)
    assert (done.returncode, "no command" in done.stderr) == (125, True)


def test_orphans_come_to_the_supervisor():
    job = start_job("sub.reaper", "sh", "-c", "(setsid sleep 1000 & echo $!) ; read line", stdin=subprocess.PIPE)
    orphan = int(job.stdout.readline())
    wait_until(lambda: f"PPid:\t{job.pid}\n" in Path(f"/proc/{orphan}/status").read_text(), "the orphan under the supervisor")
    job.communicate("\n", timeout=30)
    assert not Path(f"/proc/{orphan}").exists()


def private_bytes(pid):
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kilobytes) * 1024 for kilobytes in re.findall(r"Private_(?:Clean|Dirty):\s+(\d+) kB", text))


def has_socket(pid):
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # the process can close the descriptor before the test reads the link
            if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket"):
                return True
    return False


def test_a_sleeping_supervisor_is_small_and_holds_no_connection():
    job, other = start_job("small.1", "sleep", "1000"), start_job("small.2", "sleep", "1000")
    wait_running("small.1")
    wait_running("small.2")  # all processes of a program share the program's own pages
    wait_until(lambda: not has_socket(job.pid), "connection closed")
    assert private_bytes(job.pid) <= 1 << 20
    wait_until(lambda: Path(f"/proc/{job.pid}/cgroup").read_text().endswith("/pinfold.slice\n"), "out of the batch system's own cgroup")
    for key, supervisor in (("small.1", job), ("small.2", other)):
        run("pinfold", "stop", key)
        finish(supervisor)


def test_stop_and_continue_from_a_terminal():
    """Ctrl-Z stops the whole foreground group. A shell with job control must see that pinfold-run has stopped."""
    # The script acts as the shell and leads the session, because pinfold-run must not be the leader of the session. The kernel does not let a
    # terminal stop an orphaned process group.
    script = """
import os, pty, signal, select
def until(fd, text, seen=b''):
    while text not in seen:
        assert select.select([fd], [], [], 30)[0], seen
        seen += os.read(fd, 1000)
    return seen
session, terminal = pty.fork()
if session == 0:
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp('pinfold-run', ['pinfold-run', '--job', 'tty.2', '--', 'sh', '-c', 'echo ready; read line; echo "got $line"; exit 6'])
    pid, status = os.waitpid(child, os.WUNTRACED)
    print('stopped' if os.WIFSTOPPED(status) else f'ended {status}', flush=True)
    os.kill(-child, signal.SIGCONT)
    pid, status = os.waitpid(child, 0)
    print('status', os.WEXITSTATUS(status), flush=True)
    os._exit(0)
seen = until(terminal, b'ready')
os.write(terminal, b'\\x1a')
seen = until(terminal, b'stopped', seen)
os.write(terminal, b'more\\n')
seen = until(terminal, b'status 6', seen)
assert b'got more' in seen, seen
print('fine')
"""
    assert run(PYTHON, "-c", script).stdout == "fine\n"
    wait_until(lambda: receipts("tty.2"), "receipt")
    expect_nothing_left()


def test_a_stop_by_kill_is_the_jobs_alone():
    job = start_job("stop.kill", "sleep", "1000")
    wait_running("stop.kill")
    leader = json.loads(run("pinfold", "list", "--json").stdout)["jobs"][0]["leader"]

    def state(pid):
        return re.search(r"State:\s+(\w)", Path(f"/proc/{pid}/status").read_text()).group(1)

    os.kill(job.pid, signal.SIGTSTP)
    wait_until(lambda: state(leader) == "T", "the job stopped")
    assert state(job.pid) in "RS"  # pinfold-run may be about to sleep again
    os.kill(job.pid, signal.SIGCONT)
    wait_until(lambda: state(leader) == "S", "the job running again")
    os.kill(job.pid, signal.SIGTERM)
    assert finish(job)[0] == -signal.SIGTERM


def test_the_jobs_environment_loads_nothing_into_it():
    assert not re.findall(r"NEEDED|INTERP", run("objdump", "-p", "/usr/bin/pinfold-run").stdout)
    environment = {**os.environ, "LD_PRELOAD": "/nonexistent.so", "LD_LIBRARY_PATH": "/nonexistent"}
    assert "cannot be preloaded" in run("/bin/true", env=environment).stderr, "as any other program would say"
    assert run("pinfold-run", "--version", env=environment).stderr == ""
