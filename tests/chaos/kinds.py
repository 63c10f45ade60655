# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines the kinds of jobs, and how a job of each kind is allowed to end. Each kind of job allows as few outcomes as possible. If a kind of job
allows more than one outcome, a comment says when and why."""

import os
import signal
import subprocess

from asking import DELAY, OUTAGE, OWNERS, RAN, Wrapper, admitted, ask, ended, job, opened, pinfold, populated, quiet, refused, start, terminated, until
from jobs import ESCAPIST, text_of
from story import Outcome

SIGNALS = (signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL, signal.SIGUSR1, signal.SIGABRT)
FOR_EVER = "exec sleep 100000"
UNTIL_TOLD = "read line; exit 4"  # exits with 4 when the test writes a line
WAYS = ("set-sid", "double-fork", "daemon")
# The test kills the wrapper at a random moment, at most CREATION seconds after the wrapper's start. The wrapper dies during a random step of the
# job's creation, or shortly after the last step.
CREATION = 0.06  # seconds


def exits(story):
    status = story.chance.choice((0, 1, 42, 99, 100, 255))
    if job(story, f"exit {status}", statuses={status}):
        story.admit(Outcome("exited", status))


def empty_at_once(story):
    in_place = story.chance.random() < 0.5
    wrapper = Wrapper(story, "true", key=story.key, options=["--exec"] if in_place else [])
    done = wrapper.finish()
    if admitted(story, done):
        story.expect(done.status == 0, f"status {done.status}")
        story.admit(Outcome("exited", None if in_place else 0))


def by_a_signal(story):
    number = story.chance.choice(SIGNALS)
    if job(story, f"kill -{int(number)} $$", statuses={-number}):
        story.admit(Outcome("signaled", None, int(number)))


def leaves_daemons(story):
    way, number = story.chance.choice(WAYS), story.chance.randint(1, 3)
    if job(story, f"for i in $(seq {number}); do {ESCAPIST} {way}; done; exit 3", statuses={3}):
        story.admit(Outcome("exited", 3), leftovers=range(number, number + 1))


def leaves_a_stubborn_one(story):
    script = "trap '' TERM; setsid sh -c 'while :; do sleep 1000; done' >/dev/null 2>&1 & exit 6"
    # The shell is a leftover. If pinfoldd sees the shell's child `sleep` in time, the child is a second leftover.
    if job(story, script, statuses={6}):
        story.admit(Outcome("exited", 6), leftovers=range(1, 3))


def over_time(story):
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {FOR_EVER}", key=story.key, options=["--run-time-max", "3s"])
    done = wrapper.finish()
    if admitted(story, done, wrapper.begin):
        quiet(story, done, because=": it reached its run time limit of 3s")
        story.expect(done.status in terminated(story), f"status {done.status}")
        # The time limit begins with the job's creation. With all lanes at work, the creation of a job can take more than a second. If a disturbance
        # kills pinfoldd or stops the bus, the creation of the job can take longer than the time limit.
        story.expect(RAN in done.out or story.disturbed(OUTAGE | DELAY), "its command did not run")
        story.admit(Outcome("timeout", *done.how))


def stopped(story):
    options = ["--exec"] if story.chance.random() < 0.25 else []
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {FOR_EVER}", key=story.key, options=options)
    by = story.chance.choice(("root", story.item.user))
    if wrapper.has_run():
        pinfold(story, "stop", story.key, user=by)
    done = wrapper.finish()
    if admitted(story, done, wrapper.begin):
        # With --exec, pinfoldd prints why the job was stopped. If pinfoldd restarts before it has printed the reason, nobody prints the reason.
        quiet(story, done, because=request_of(by), needed=not options)
        story.expect(done.status in terminated(story), f"status {done.status}")
        story.admit(Outcome("stopped", *((None, None) if options else done.how)), more=(("stopped_by", story.uid if by != "root" else 0),))


def request_of(user):
    return f" on request of user {user}"


def told_to_end(story):
    """The batch system sends SIGTERM to the wrapper in order to end the job."""
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {FOR_EVER}", key=story.key)
    if wrapper.has_run():
        wrapper.send(signal.SIGTERM)
    done = wrapper.finish()
    if admitted(story, done, wrapper.begin):
        quiet(story, done)
        story.expect(done.status == -signal.SIGTERM, f"status {done.status}")
        story.admit(Outcome("signaled", None, int(signal.SIGTERM)))


def supervisor_killed(story):
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {FOR_EVER}", key=story.key)
    if wrapper.has_run():
        wrapper.send(signal.SIGKILL)
    done = wrapper.finish()
    if admitted(story, done, wrapper.begin):
        story.expect(done.status == -signal.SIGKILL, f"status {done.status}")
        story.admit(Outcome("supervisor-lost"))
        until(lambda: not populated(story.key), f"{story.key} empty")


def group_killed(story):
    """Kills the wrapper and the wrapper's job at the same moment, as a batch system does as a last resort."""
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {FOR_EVER}", key=story.key, start_new_session=True)
    if wrapper.has_run():
        story.note("SIGKILL to its process group")
        os.killpg(wrapper.process.pid, signal.SIGKILL)
    done = wrapper.finish()
    if admitted(story, done, wrapper.begin):
        story.expect(done.status == -signal.SIGKILL, f"status {done.status}")
        story.admit(Outcome("supervisor-lost"))


def in_place(story):
    status = story.chance.choice((0, 1, 99))
    left = story.chance.randint(0, 1)
    if job(story, f"{f'{ESCAPIST} set-sid; ' * left}exit {status}", options=["--exec"], statuses={status}):
        story.admit(Outcome("exited"), leftovers=range(left, left + 1))


def cannot_be_executed(story):
    command, status = story.chance.choice((("/nonexistent/command", 127), ("/etc/passwd", 126)))
    wrapper = Wrapper(story, command, key=story.key)
    done = wrapper.finish()
    if admitted(story, done, wrapper.begin):
        story.expect(done.status == status and command in done.err, f"status {done.status}: {done.err!r}")
        story.admit(Outcome("exited", status))


def killed_in_creation(story):
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {FOR_EVER}", key=story.key)
    after, number = story.chance.uniform(0, CREATION), story.chance.choice((signal.SIGTERM, signal.SIGKILL))
    try:
        wrapper.process.wait(after)
    except subprocess.TimeoutExpired:
        wrapper.send(number)
    done = wrapper.finish()
    if not admitted(story, done, wrapper.begin):
        return
    story.expect(done.status == -number, f"status {done.status}")
    ran = done.out != b""
    how = Outcome("signaled", None, int(number)) if number == signal.SIGTERM else Outcome("supervisor-lost")
    # If the wrapper gives up while pinfoldd creates the job, there can be a receipt although the command never ran. Before the wrapper gives up, the
    # wrapper can report that the signal ended the command.
    given_up = {Outcome("supervisor-lost"), Outcome("exited"), Outcome("lost"), Outcome("lost", None, int(signal.SIGTERM))}
    story.admit({how} if ran else {how} | given_up, needed=ran)
    until(lambda: not populated(story.key), f"{story.key} empty")


def without_a_key(story):
    status = story.chance.choice((0, 5))
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; cat /proc/self/cgroup; exit {status}")
    done = wrapper.finish()
    if not admitted(story, done, wrapper.begin):
        return
    quiet(story, done)
    story.expect(done.status == status, f"status {done.status}")
    path = done.out.decode().partition("batch-")[2]
    if story.expect(path.startswith("manual."), f"no key that pinfoldd has picked: {done.out!r}"):
        story.admit(Outcome("exited", status), key=path.partition(".slice")[0])


def used_again(story):
    """Uses one key for several jobs in succession, as a batch system does for a requeued job."""
    for _ in range(story.item.size):
        story.chance.choice((exits, by_a_signal, leaves_daemons, over_time))(story)


def burst(story):
    """Starts all array tasks at the same time."""
    keys = [f"{story.key}.{number}" for number in range(story.item.size)]
    statuses = [story.chance.choice((0, 7, 99)) for _ in keys]
    wrappers = [Wrapper(story, "sh", "-c", f"echo ran; exit {status}", key=key) for key, status in zip(keys, statuses)]
    for wrapper, status in zip(wrappers, statuses):
        done = wrapper.finish()
        if admitted(story, done, wrapper.begin):
            quiet(story, done)
            story.expect(done.status == status, f"{wrapper.key}: status {done.status}, not {status}")
            story.admit(Outcome("exited", status), key=wrapper.key)


def with_tasks(story):
    """Runs a job. The job's owner starts more tasks of the job, and lets pinfoldd adopt processes into the job."""
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {UNTIL_TOLD}", key=story.key)
    joined, adopted = story.chance.randint(0, 3), story.chance.randint(0, 1)
    sleepers = []
    if wrapper.has_run():
        tasks = [Wrapper(story, "sh", "-c", f"echo ran; exit {20 + number}", key=story.key, options=["--task"]) for number in range(joined)]
        sleepers = [adopt(story) for _ in range(adopted)]
        for number, task in enumerate(tasks):
            done = task.finish()
            story.expect((done.status, done.out) == (20 + number, b"ran\n"), f"task: status {done.status}: {done.err!r}")
    done = wrapper.finish()
    for sleeper in sleepers:
        story.expect(sleeper.wait(60) in (-signal.SIGTERM, -signal.SIGKILL), f"the adopted process ended with {sleeper.returncode}")
    if admitted(story, done, wrapper.begin):
        quiet(story, done)
        story.expect(done.status == 4, f"status {done.status}")
        story.admit(Outcome("exited", 4), leftovers=range(adopted, adopted + 1), tasks=tasks_of(story, 1 + joined + adopted))


def adopt(story):
    """Lets pinfoldd adopt a new process. When pinfoldd has answered the call, the process must be in the job."""
    sleeper = start(story, "sleep", "100000")

    def cgroup():
        return text_of(f"/proc/{sleeper.pid}/cgroup")

    def inside():
        return f"/batch-{story.key}.slice/" in cgroup()
    pinfold(story, "adopt", story.key, sleeper.pid, done=inside)
    story.expect(inside(), f"adopted, but in {cgroup()}")
    return sleeper


def tasks_of(story, number):
    """Returns all values that the task count in the job's receipt is allowed to have. A test sometimes repeats the start of a task. If pinfoldd has
    restarted and has no record of the task's first start, the second start gets a new number."""
    return range(number, number + 1 + (9 if story.disturbed(OUTAGE) else 0))


def suspended(story):
    then_stopped = story.chance.random() < 0.3
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {FOR_EVER if then_stopped else UNTIL_TOLD}", key=story.key)
    if wrapper.has_run():
        pinfold(story, "suspend", story.key)
        story.expect(frozen(story), "suspended, but not frozen")
        pinfold(story, "stop" if then_stopped else "resume", story.key)
        story.expect(then_stopped or not frozen(story), "resumed, but frozen")
    done = wrapper.finish()
    if not admitted(story, done, wrapper.begin):
        return
    quiet(story, done, because=request_of("root") if then_stopped else None)
    statuses = terminated(story) if then_stopped else {4}
    story.expect(done.status in statuses, f"status {done.status}, not {statuses}")
    story.admit(Outcome("stopped" if then_stopped else "exited", *done.how))


def frozen(story):
    try:
        with open(f"/sys/fs/cgroup/batch.slice/batch-{story.key}.slice/cgroup.events", encoding="ascii") as events:
            return "frozen 1" in events.read()
    except OSError:
        return False


def limits_changed(story):
    """Lowers the time limit of a running job to 200 ms, so that the job exceeds its limit."""
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {FOR_EVER}", key=story.key, options=["--run-time-max", "1h"])
    if wrapper.has_run():
        for limit in ("30min", "200ms"):
            pinfold(story, "limits", story.key, "--run-time-max", limit, user=story.item.user)
    done = wrapper.finish()
    if admitted(story, done, wrapper.begin):
        quiet(story, done, because=": it reached its run time limit of 200ms")
        story.expect(done.status in terminated(story), f"status {done.status}")
        story.admit(Outcome("timeout", *done.how), more=(("run_time_max", 200_000),))


def opened_first(story):
    """Acts like the prologue, job starter and epilogue of Torque and OpenPBS."""
    owner = story.chance.choice(list(OWNERS))
    if not opened(story, "--linger", "infinity", owner=owner):
        return
    status, left = story.chance.choice((0, 9)), story.chance.randint(0, 1)
    job(story, f"{f'{ESCAPIST} double-fork; ' * left}exit {status}", options=["--batch"], user=owner, statuses={status})
    same(story, ended(story))
    story.admit(Outcome("exited", status), uid=OWNERS[owner], leftovers=range(left, left + 1))


def same(story, receipt):
    """Stores the epilogue's receipt in the story. verify.py compares the epilogue's receipt with the receipt in the history."""
    if story.expect(receipt is not None, "the epilogue has no receipt"):
        story.told = receipt


def further_host(story):
    """Opens a job without a batch script, and runs several tasks of the job at the same time."""
    owner, number = story.chance.choice(list(OWNERS)), story.chance.randint(0, 4)
    if not opened(story, "--linger", "infinity", owner=owner):
        return
    tasks = [Wrapper(story, "sh", "-c", f"echo ran; {f'{ESCAPIST} double-fork; ' * (n % 2)}exit {30 + n}", key=story.key, options=["--task"],
                     user=owner) for n in range(number)]
    for n, task in enumerate(tasks):
        done = task.finish()
        story.expect(done.status == 30 + n and done.out.startswith(b"ran\n"), f"task: status {done.status}: {done.out!r} {done.err!r}")
        quiet(story, done)
    same(story, ended(story, "--exit-status", "7"))
    story.admit(Outcome("exited", 7), uid=OWNERS[owner], leftovers=range(number // 2, number // 2 + 1), tasks=tasks_of(story, number))


def forgotten(story):
    """An opened job that gets no task ends by itself."""
    if opened(story, "--linger", "300ms", owner="alice"):
        until(lambda: not os.path.isdir(f"/sys/fs/cgroup/batch.slice/batch-{story.key}.slice"), f"{story.key} gone")
        story.admit(Outcome("exited"), uid=OWNERS["alice"], tasks=range(1))
    if story.asked_again:  # the repeated request has perhaps opened the job again after its end
        story.admit(Outcome("exited"), uid=OWNERS["alice"], tasks=range(1), needed=False)


def slurm_step(story):
    """Acts like Slurm's plugin. Starts several tasks of a job that nobody has opened; each task opens the job if the job does not exist. The tasks
    end one by one."""
    owner, number = story.chance.choice(list(OWNERS)), story.chance.randint(1, 3)
    tasks = [start(story, "sh", "-c", f"read line || exit 125; echo ran; exit {40 + n}", user=owner) for n in range(number)]
    request = {"call": "create", "key": story.key, "limits": {}, "role": "task-of-open", "owner": OWNERS[owner]}
    answers = [ask(story, request, [task.pid]) for task in tasks]
    joined = [(task, answer) for task, answer in zip(tasks, answers) if "error" not in answer]
    for task, answer in zip(tasks, answers):
        if "error" in answer:
            story.expect(refused(story, answer["message"]), f"refused without a reason: {answer}")
            task.communicate(timeout=60)
    if not joined:
        story.refused += 1
        return
    for task, answer in joined:
        task.communicate(b"\n", timeout=60)
        ask(story, {"call": "end", "key": story.key, "leader": task.pid, "exit_status": task.returncode, "task": answer["task"]})
    statuses = [task.returncode for task in tasks]
    story.expect(statuses == [125 if "error" in answer else 40 + n for n, answer in enumerate(answers)], f"statuses {statuses}")
    ask(story, {"call": "end", "key": story.key, "leader": 0, "exit_status": 0})
    story.admit(Outcome("exited", 0), uid=OWNERS[owner], tasks=tasks_of(story, len(joined)))


# KINDS maps each kind of job to two numbers. The first number is the weight in the random choice, and the second number says how many jobs one Item
# starts.
KINDS = {
    exits: (14, 1), empty_at_once: (5, 1), by_a_signal: (6, 1), leaves_daemons: (8, 1), leaves_a_stubborn_one: (2, 1), over_time: (5, 1),
    stopped: (8, 1), told_to_end: (4, 1), supervisor_killed: (4, 1), group_killed: (2, 1), in_place: (6, 1), cannot_be_executed: (3, 1),
    killed_in_creation: (8, 1), without_a_key: (6, 1), used_again: (4, 3), burst: (2, 12), with_tasks: (5, 1), suspended: (4, 1),
    limits_changed: (4, 1), opened_first: (7, 1), further_host: (5, 1), forgotten: (2, 1), slurm_step: (5, 1),
}
BY_NAME = {kind.__name__: kind for kind in KINDS}
WEIGHTS = {kind.__name__: how for kind, how in KINDS.items()}
