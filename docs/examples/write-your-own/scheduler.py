#!/usr/bin/python3
# scheduler.py KEY USER COMMAND [ARGS...]: run a job in its own scope. If the exit status is 99, nothing has run: requeue the job.
import os
import pwd
import sys

from pinfold import Pinfold, Refused, how_it_ended

if len(sys.argv) < 4:
    sys.exit("usage: scheduler.py KEY USER COMMAND [ARGS...]")
key, user, command = sys.argv[1], sys.argv[2], sys.argv[3:]
try:
    owner = pwd.getpwnam(user)
except KeyError:
    sys.exit("there is no user '%s'" % user)

word, go = os.pipe()
job = os.fork()
if job == 0:  # this process becomes the job: it waits until pinfoldd has moved it into the job's scope
    os.close(go)
    if os.read(word, 1) != b"g":
        os._exit(99)
    try:
        os.setsid()
        os.initgroups(owner.pw_name, owner.pw_gid)
        os.setgid(owner.pw_gid)
        os.setuid(owner.pw_uid)
        os.execvp(command[0], command)
    finally:
        os._exit(127)

pinfold = Pinfold()
try:
    pinfold.create_job(key, job, uid=owner.pw_uid, memory_max=256 << 20, report_within=10_000_000)
except Refused as refusal:
    print(refusal, file=sys.stderr)
    os.close(go)  # end the waiting process: if pinfoldd has created the job nevertheless, the job ends, too
    os.waitpid(job, 0)
    sys.exit(99)

os.write(go, b"g")
status = os.waitpid(job, 0)[1]
try:
    receipt = pinfold.end_job(key, leader=job, **how_it_ended(status))  # when end_job() returns, no process of the job is left
    print("%s: cpu %.3f s, %d left behind" % (receipt["result"], (receipt.get("cpu_user", 0) + receipt.get("cpu_system", 0)) / 1e6,
                                              receipt["leftovers"]), file=sys.stderr)
except Refused as refusal:
    print(refusal, file=sys.stderr)  # pinfoldd ends the job nevertheless: call end_job() again before you reuse the slot
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
