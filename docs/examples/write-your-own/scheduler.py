#!/usr/bin/python3
# scheduler.py KEY USER COMMAND [ARGS...]: run a job in its own scope. Exit status 99: nothing has run, requeue it.
import os
import pwd
import sys

import dbus

key, owner, command = sys.argv[1], pwd.getpwnam(sys.argv[2]), sys.argv[3:]
word, go = os.pipe()
job = os.fork()
if job == 0:  # the process that becomes the job waits until it is in its scope
    os.close(go)
    if os.read(word, 1) != b"g":
        os._exit(99)
    os.setsid()
    os.initgroups(owner.pw_name, owner.pw_gid)
    os.setgid(owner.pw_gid)
    os.setuid(owner.pw_uid)
    try:
        os.execvp(command[0], command)
    finally:
        os._exit(127)

try:
    pinfold = dbus.Interface(dbus.SystemBus().get_object("org.pinfold1", "/org/pinfold1"), "org.pinfold1.Manager")
    pinfold.CreateJob(key, dbus.types.UnixFd(os.pidfd_open(job)), {"uid": dbus.UInt32(owner.pw_uid), "memory_max": dbus.UInt64(256 << 20)},
                      signature="sha{sv}", timeout=60)
except dbus.DBusException as error:
    print(error.get_dbus_message(), file=sys.stderr)
    os.close(go)  # the waiting process ends, and with its leader the job, if only the answer was lost
    os.waitpid(job, 0)
    sys.exit(99)

os.write(go, b"g")
status = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
how = {"exit_status": dbus.Int32(status)} if status >= 0 else {"exit_signal": dbus.Int32(-status)}
receipt = pinfold.EndJob(key, {"leader": dbus.UInt32(job), **how}, signature="sa{sv}", timeout=600)  # nothing of the job is left now
print("%s: cpu %.3f s, %d left behind" % (receipt["result"], (receipt.get("cpu_user", 0) + receipt.get("cpu_system", 0)) / 1e6,
                                          receipt["leftovers"]), file=sys.stderr)
sys.exit(status if status >= 0 else 128 - status)
