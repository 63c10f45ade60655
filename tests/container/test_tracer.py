# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tracer can keep a process from ending, even after SIGKILL. pinfoldd kills a user's tracer even if the tracer is outside of the job."""

import subprocess

from jobs import (as_alice, expect_nothing_left, finish, journal, live_jobs, run, site, wait_for_entries, wait_for_journal,
                  wait_until)

# Traces all threads of the given processes (PTRACE_SEIZE with PTRACE_O_TRACEEXIT). In TRACER, the second thread is the tracer.
TRACER = """
import ctypes, os, sys, threading
def trace():
    libc = ctypes.CDLL(None, use_errno=True)
    for thread in os.listdir(f"/proc/{sys.argv[1]}/task"):
        assert libc.ptrace(0x4206, int(thread), None, ctypes.c_void_p(0x40)) == 0, os.strerror(ctypes.get_errno())
    print("traces", flush=True)
    threading.Event().wait()
threading.Thread(target=trace).start()
"""


def alices_job(key, *command):
    run("pinfold", "open", key, "--uid", "alice", "--linger", "infinity")
    process = subprocess.Popen(as_alice(*command), stdout=subprocess.PIPE, text=True)
    run("pinfold", "adopt", key, process.pid)
    return process


def tracer_of(key, pid):
    tracer = alices_job(key, "python3", "-c", TRACER, str(pid))
    assert tracer.stdout.readline() == "traces\n"
    return tracer


def test_a_tracer_in_another_job_keeps_no_job_from_ending():
    with site('[unkillable]\nafter = "2s"\naction = "drain"\n'):
        traced = alices_job("traced.1", "sleep", "7460")
        tracer = tracer_of("tracer.1", traced.pid)
        further = tracer_of("tracer.2", tracer.pid)
        run("pinfold", "stop", "--grace", "0", "traced.1")
        wait_until(lambda: "traced.1" not in live_jobs(), "the end of the job")
        for process in (tracer, further):
            wait_for_journal(f"killed process {process.pid}, because the process traced the job and kept the job from ending", "-o", "cat",
                             "_SYSTEMD_UNIT=pinfoldd.service")
        assert not journal("traced.1", "unkillable")
        for process in (traced, tracer, further):
            finish(process, timeout=30)
        for key in ("tracer.1", "tracer.2"):
            run("pinfold", "end", key)
    expect_nothing_left()


def test_a_tracer_of_roots_is_not_ended():
    with site('[unkillable]\nafter = "2s"\n'):
        traced = alices_job("traced.2", "sleep", "7461")
        tracer = subprocess.Popen(["python3", "-c", TRACER, str(traced.pid)], stdout=subprocess.PIPE, text=True)
        assert tracer.stdout.readline() == "traces\n"
        run("pinfold", "stop", "--grace", "0", "traced.2")
        wait_for_entries("traced.2", "unkillable")
        assert tracer.poll() is None
        tracer.kill()
        finish(traced, timeout=30)
        finish(tracer)
        wait_until(lambda: "traced.2" not in live_jobs(), "the end of the job")
    expect_nothing_left()
