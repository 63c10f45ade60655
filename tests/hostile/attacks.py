# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attacks the node as an ordinary user. The tests run `attacks.py NAME ARGUMENTS…` as an ordinary user, and the program prints the result as JSON."""

import array
import ctypes
import json
import os
import resource
import socket
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import dbus
import dbus.mainloop.glib

sys.path.append(str(Path(__file__).resolve().parents[1] / "bus"))
from raw_bus import RawBus  # noqa: E402

SERVICE, PATH, INTERFACE = "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager"


def manager():
    return dbus.Interface(dbus.SystemBus().get_object(SERVICE, PATH), INTERFACE)


def call(method, *arguments):
    """Returns the answer, or the name of the error."""
    try:
        return getattr(manager(), method)(*arguments)
    except dbus.DBusException as error:
        return error.get_dbus_name().removeprefix("org.pinfold1.Error.")


def connect():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect("/run/pinfold/wrapper.sock")
    return connection


def ask(request, *fds):
    with connect() as connection:
        socket.send_fds(connection, [json.dumps(request, separators=(",", ":")).encode()], list(fds))
        return json.loads(connection.recv(65536) or '"closed"')


def idle():
    """Starts a process of the user, outside of all jobs."""
    return subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def forged_signals(number, key):
    """Forges signals of systemd-oomd and systemd, and sends the signals to pinfoldd. A signal of systemd does not have a destination, but each forged
    signal names pinfoldd as its destination."""
    bus = dbus.SystemBus()
    told = [("/org/freedesktop/oom1", "org.freedesktop.oom1.Manager", "Killed", "ss", f"/batch.slice/batch-{key}.slice/job-{key}.scope", "memory-used"),
            ("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "Reloading", "b", True),
            ("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "Reloading", "b", False),
            ("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "JobRemoved", "uoss", 1, "/x", f"job-{key}.scope", "failed")]
    destinations = (SERVICE, bus.get_name_owner(SERVICE))
    for i in range(int(number)):
        path, interface, member, signature, *arguments = told[i % len(told)]
        signal = dbus.lowlevel.SignalMessage(path, interface, member)
        signal.set_destination(destinations[i // len(told) % 2])
        signal.append(*arguments, signature=signature)
        bus.send_message(signal)
        if i % 1000 == 0:
            bus.get_name_owner(SERVICE)  # get_name_owner() also reads the errors that the bus sends because of the forged signals
    # The bus keeps the order of messages, so pinfoldd reads the forged signals before this call.
    return len(manager().ListJobs())


def lingering_sockets(number):
    """Sends sockets to pinfoldd. The close() of each socket waits until the other end reads, and the other end never reads. When the child has sent
    the sockets, the child exits, so that pinfoldd closes the last descriptor of each socket. If pinfoldd closes its descriptors before the child
    exits, the child's exit closes the last descriptors, and hangs."""
    server = socket.create_server(("127.0.0.1", 0))
    for _ in range(int(number)):
        if os.fork() != 0:
            continue
        for stream in (0, 1, 2):
            os.close(stream)
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        ours.setblocking(False)
        try:
            while True:
                ours.send(bytes(65536))
        except BlockingIOError:
            pass
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1_000_000))
        connect().sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [ours.fileno(), theirs.fileno()]))])
        os._exit(0)
    return "sent"


def files_that_never_close(path, number):
    """Sends files of the user's own file server, which does not answer close(). When this process has sent the files, it exits, so that pinfoldd
    closes the last descriptor of each file."""
    for _ in range(int(number)):
        if os.fork() == 0:
            for stream in (0, 1, 2):
                os.close(stream)
            connect().sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.open(path, os.O_RDONLY)]))])
            os._exit(0)  # the attack succeeds even if sendmsg() fails
    return "sent"


def jobs_with_the_output(path, number):
    """Creates jobs that soon reach their run time limit. The standard error of each job is the file `path`. pinfoldd writes a message about each
    job's end to the file. Returns pinfoldd's refusals."""
    file, leaders = os.open(path, os.O_WRONLY), [idle() for _ in range(int(number))]
    answers = [ask({"version": 1, "call": "create", "key": f"user.unheard-{leader.pid}", "limits": {"run_time_max": 100_000}, "output": True},
                   os.pidfd_open(leader.pid), file) for leader in leaders]
    return [answer for answer in answers if "error" in answer]


def descriptors_on_the_bus(path, user, unique, number):
    """Sends descriptors of a file that pinfoldd cannot close, in messages of every type. Each message has sixteen descriptors, the most that the bus
    allows. The function tells the bus the user id `user`. The argument `unique` is pinfoldd's unique name on the bus. Returns how many messages the
    bus refused."""
    bus, refused = RawBus("/run/dbus/system_bus_socket", user), 0
    told = [(1, {"path": PATH, "interface": INTERFACE, "member": "ListJobs"}),
            (1, {"path": "/", "interface": "org.freedesktop.DBus.Peer", "member": "Ping"}),
            (4, {"path": "/org/freedesktop/systemd1", "interface": "org.freedesktop.systemd1.Manager", "member": "Reloading"}),
            (2, {"reply_serial": 7}), (3, {"error_name": "org.pinfold1.Error.Busy", "reply_serial": 7})]
    file = os.open(path, os.O_RDONLY)
    for i in range(int(number)):
        kind, fields = told[i % len(told)]
        bus.send(kind, [file] * 16, {**fields, "destination": (SERVICE, unique)[i // len(told) % 2]})
        if i % 50 == 49:
            refused += bus.answers().count(b"org.freedesktop.DBus.Error.AccessDenied")
    return refused


def refusal(answer):
    """If an answer of the wrapper's socket contains the name of an error, returns this name. Otherwise, returns the answer."""
    return answer["error"] if "error" in answer else answer


def create(key, role, leader, supervisor=None):
    """Calls CreateJob at the wrapper's socket, because ordinary users cannot pass processes to pinfoldd on the bus."""
    request = {"version": 1, "call": "create", "key": key, "limits": {}, **({"supervised": True} if supervisor else {}), **role}
    return refusal(ask(request, *(os.pidfd_open(int(pid)) for pid in (leader, supervisor) if pid)))


def leave_as_supervisor(key, *supervisors):
    """Claims that processes of the job are supervisors. pinfoldd moves supervisors out of jobs, so the processes would leave the job if pinfoldd
    believed the claim."""
    own = idle()
    answers = [create(key, {"role": "task"}, own.pid, pid) for pid in (*supervisors, own.pid)]
    own.kill()
    return answers


def trace_the_wrapper():
    """Runs in a job, and tries to trace the job's pinfold-run. The tracer and pinfold-run belong to the same user."""
    libc = ctypes.CDLL(None, use_errno=True)
    wrapper = os.getppid()
    seize, attach = 0x4206, 16
    gained = [request for request in (seize, attach) if libc.ptrace(request, wrapper, 0, 0) == 0]
    for file in ("mem", "environ", "fd/0", "root/etc", "cwd/."):
        try:
            os.stat(f"/proc/{wrapper}/{file}") if "/" in file else os.open(f"/proc/{wrapper}/{file}", os.O_RDWR)
            gained.append(file)
        except PermissionError:
            pass
    return gained


def flood_of_connections(number, hold):
    """Makes connections that send nothing. The connections stay open until the pipe `hold` is closed."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    held = []
    for _ in range(int(number)):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        try:
            connection.connect("/run/pinfold/wrapper.sock")
        except BlockingIOError:
            break
        held.append(connection)
    print(json.dumps(len(held)), flush=True)
    os.read(int(hold), 1)
    return len(held)


def flood_of_ids(first, number, each, hold):
    """Makes `each` connections for each of `number` users. This process runs as root. The process starts a child for each user, and the child takes
    the user's id."""
    for user in range(int(first), int(first) + int(number)):
        if os.fork() == 0:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            flood_of_connections(each, hold)
            os._exit(0)
    for _ in range(int(number)):
        os.wait()
    return "gone"


def long_grace(key):
    return call("StopJob", key, {"grace": dbus.UInt64(3600 * 10**6)})


def list_whole(key):
    """Calls ListProcesses, and returns the number of processes in the answer. The answer has at most one page of processes."""
    return len(call("ListProcesses", key))


def cgroup_of_a_name(above, path):
    """Makes a cgroup below the cgroup `above`. The path of the new cgroup ends with the path of another user's job. The user has the right to write
    to the cgroup `above`. Returns pinfoldd's answer about a process in the new cgroup."""
    cgroup = Path(above + path)
    cgroup.mkdir(parents=True)
    own = idle()
    (cgroup / "cgroup.procs").write_text(str(own.pid))
    answer = call("GetJobByPID", dbus.UInt32(own.pid))
    own.kill()
    own.wait()
    return answer


def take_keys(*keys):
    own = idle()
    answers = [create(key, {}, own.pid) for key in keys]
    own.kill()
    return answers


def look_at(pid):
    try:
        manager().GetJobByPID(dbus.UInt32(pid))
    except dbus.DBusException as error:
        return error.get_dbus_message()


def same_again(key, pid):
    """Asks pinfoldd to create another user's live job a second time, with the leader that the job already has. Makes the request once on the bus, and
    once at the socket."""
    leader = os.pidfd_open(int(pid))
    return [call("CreateJob", key, dbus.types.UnixFd(leader), {}),
            ask({"version": 1, "call": "create", "key": key, "limits": {}}, leader)]


def listen(number):
    """First prints that the program is ready, and then prints the contents of the next JobRemoved signals."""
    from gi.repository import GLib
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    loop, heard = GLib.MainLoop(), []

    def removed(*told):
        heard.append(told)
        if len(heard) == int(number):
            loop.quit()
    dbus.SystemBus().add_signal_receiver(removed, "JobRemoved", INTERFACE)
    print("listening", flush=True)
    loop.run()
    return heard


def forge_journal(message, event):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
        journal.connect("/run/systemd/journal/socket")
        journal.send(f"MESSAGE={message}\nPRIORITY=3\nSYSLOG_IDENTIFIER=pinfoldd\nPINFOLD_EVENT={event}\n".encode())
    return "sent"


def methods():
    introspectable = dbus.Interface(dbus.SystemBus().get_object(SERVICE, PATH), dbus.INTROSPECTABLE_IFACE)
    interface, = (element for element in ElementTree.fromstring(introspectable.Introspect()) if element.get("name") == INTERFACE)
    return [element.get("name") for element in interface.findall("method")]


def all_calls(key):
    """Tries every call that acts on another user's job or on the whole node."""
    own = idle()
    answers = {method: call(method, key, *arguments) for method, arguments in {
        "StopJob": ({},), "KillJob": (9,), "EndJob": ({},), "SuspendJob": (), "ResumeJob": (), "WaitJob": (), "ListProcesses": (), "GetUsage": (),
        "GetIdentity": (), "ListMoreProcesses": (dbus.UInt32(0),), "WaitTask": (dbus.UInt32(0),), "GetReceipt": (), "GetProfile": (),
        "SetLimits": ({"kill_grace": dbus.UInt64(1)}, {}), "OpenJob": ({},)}.items()}
    answers |= {method: call(method, *arguments) for method, arguments in {
        "VacuumHistory": ({},), "Drain": ("by bob", {}), "Undrain": (), "Reconcile": ({},), "Reload": ()}.items()}
    answers["AddTask"] = create(key, {"role": "task"}, own.pid)
    owner, = (int(job["uid"]) for job in manager().ListJobs() if job["key"] == key)
    answers["Adopt"] = refusal(ask({"version": 1, "call": "adopt", "key": key, "owner": owner}, os.pidfd_open(own.pid)))
    own.kill()
    return answers


print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
