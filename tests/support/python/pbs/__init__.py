# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stand-in for OpenPBS's Python module pbs. In MoM, a hook for the events of a job needs only some parts of pbs. The stand-in
contains only these parts. pbs_python.py runs hooks with this stand-in.

The stand-in follows the behaviour of OpenPBS at cd7ab5eda (2026-04-10). The following sources show this behaviour:
* The constants are in src/include/hook.h, src/include/pbs_nodes.h and src/include/log.h.
* The class _event is in src/modules/python/pbs/v1/_svr_types.py. accept() and reject() end the hook by SystemExit. If a hook reads a parameter
  that the hook's event does not have, the hook gets EventIncompatibleError. Only a hook for the launch can set parameters: progname, argv and env.
* The function pbsv1mod_meth_is_attrib_val_settable() is in src/lib/Libpython/pbs_python_svr_internal.c. A hook can set nothing at attach and
  resize, and nothing after accept() or reject().
* The classes _job and _vnode are in src/modules/python/pbs/v1/_svr_types.py. Unknown attributes are errors, and unset attributes are None. The
  class job has the methods rerun() and delete().
* The class pbs_resource is in src/modules/python/pbs/v1/_base_types.py. Unset resources are None. In MoM, a hook can use any name of a resource.
* The types of sizes and durations are in src/modules/python/pbs/v1/_base_types.py.
"""

import os

EXECJOB_BEGIN, EXECJOB_PROLOGUE, EXECJOB_EPILOGUE, EXECJOB_END, EXECJOB_PRETERM, EXECJOB_LAUNCH = (1 << bit for bit in range(6, 12))
EXECHOST_PERIODIC, EXECHOST_STARTUP, EXECJOB_ATTACH = 0x1000, 0x2000, 0x4000
EXECJOB_RESIZE, EXECJOB_ABORT, EXECJOB_POSTSUSPEND, EXECJOB_PRERESUME = 0x20000, 0x40000, 0x80000, 0x100000
EVENTS = {name.lower(): value for name, value in list(globals().items()) if name.startswith("EXEC")}
ND_FREE, ND_OFFLINE = 0, 1
EVENT_ERROR, EVENT_DEBUG = 0x0001, 0x0080

hook_config_filename = os.environ.get("PBS_HOOK_CONFIG_FILE")
pbs_conf = {}


class EventIncompatibleError(AttributeError):
    pass


class UnsetAttributeNameError(Exception):
    pass


class BadAttributeValueError(Exception):
    pass


class State:
    """Holds the state of an event. An interpreter handles exactly one event."""

    event = None
    over = False  # the hook has accepted or rejected the event
    accepted = True  # a hook accepts the event if the hook calls neither accept() nor reject()
    message = ""
    log = []
    vnodes = {}  # maps each vnode's name to the attributes that the server knows
    node_name = ""


def check_settable():
    if State.over:
        raise AssertionError("Not permitted to modify attributes: an event.accept() or event.reject() already called.")
    if State.event is not None and State.event.type in (EXECJOB_ATTACH, EXECJOB_RESIZE):
        raise AssertionError("nothing is settable inside an execjob_attach or execjob_resize hook!")


class size:
    """Keeps a size as the text that the hook or MoM wrote. MoM writes sizes in kb."""

    def __init__(self, value):
        text = str(value).lower()
        if not text.rstrip("bw").rstrip("kmgtp").isdigit():
            raise BadAttributeValueError("invalid size '%s'" % value)
        self.text = text

    def __str__(self):
        return self.text


class duration(int):
    def __new__(cls, value):
        seconds = 0
        for part in str(value).split(":"):
            seconds = 60 * seconds + int(part.split(".")[0])
        return int.__new__(cls, seconds)


class pbs_int(int):
    pass


TYPES = {"mem": size, "vmem": size, "pmem": size, "pvmem": size, "file": size, "cput": duration, "pcput": duration,
         "walltime": duration, "cpupercent": pbs_int}


class pbs_resource:
    def __init__(self, values):
        self.values = {name: TYPES.get(name, str)(value) for name, value in values.items()}
        self.changed = {}

    def __getitem__(self, name):
        return self.values.get(name)

    def __setitem__(self, name, value):
        check_settable()
        wanted = TYPES.get(name, str)
        self.values[name] = self.changed[name] = value if isinstance(value, wanted) else wanted(value)

    def __contains__(self, name):
        return True  # `in` is true for every name, even if the name has no value


class Attributes:
    known = ()

    def __init__(self, values):
        unknown = set(values) - set(self.known)
        assert not unknown, unknown
        self.__dict__.update({name: values.get(name) for name in self.known}, changed={})

    def __setattr__(self, name, value):
        if name not in self.known:
            raise UnsetAttributeNameError("attribute '%s' not found" % name)
        check_settable()
        self.__dict__[name] = self.changed[name] = value


class project:
    """As in OpenPBS (_base_types.py), str() turns a project into a text, but the project does not compare equal to this text."""

    def __init__(self, value):
        self._value = value

    def __str__(self):
        return str(self._value)


class job(Attributes):
    known = ("id", "euser", "Job_Owner", "exec_vnode", "exec_host", "exec_host2", "Join_Path", "Exit_status", "stime", "run_count",
             "Resource_List", "resources_used", "Job_Name", "Account_Name", "queue", "project", "egroup", "Variable_List")

    def __init__(self, values):
        values = dict(values)
        hidden = {name: values.pop(name, default) for name, default in
                  (("_msmom", False), ("_stdout_file", None), ("_stderr_file", None))}
        if "project" in values:
            values["project"] = project(values["project"])
        super().__init__(values)
        self.__dict__.update(hidden, _rerun=False, _delete=False, Resource_List=pbs_resource(values.get("Resource_List", {})),
                             resources_used=pbs_resource(values.get("resources_used", {})),
                             Variable_List=pbs_env(values.get("Variable_List", {})))

    def rerun(self):
        self.__dict__["_rerun"] = True

    def delete(self):
        self.__dict__["_delete"] = True

    def in_ms_mom(self):
        return self._msmom

    def stdout_file(self):
        return self._stdout_file

    def stderr_file(self):
        return self._stderr_file


class vnode(Attributes):
    known = ("name", "state", "comment")

    def __init__(self, name, **values):
        super().__init__({"name": name, **values})


class pbs_env(dict):
    pass


class Event:
    def __init__(self, type, hook_name, parameters):
        self.__dict__.update(type=type, hook_name=hook_name, hook_type="site", _param=parameters)

    def __getattr__(self, name):
        try:
            return self._param[name]
        except KeyError:
            raise EventIncompatibleError('"%s" not found in self._param' % name)

    def __setattr__(self, name, value):
        if self.type != EXECJOB_LAUNCH or name not in ("progname", "argv", "env"):
            raise BadAttributeValueError("event attribute '%s' is readonly" % name)
        self._param[name] = value

    def accept(self, ecode=0):
        State.over, State.accepted = True, True
        raise SystemExit(str(ecode))

    def reject(self, emsg="", ecode=255):
        State.over, State.accepted, State.message = True, False, emsg
        raise SystemExit(str(ecode))


class Server:
    def vnode(self, name):
        return vnode(name, **State.vnodes[name]) if name in State.vnodes else None


def event():
    return State.event


def server():
    return Server()


def get_local_nodename():
    return State.node_name


def logmsg(kind, message):
    assert isinstance(kind, int)
    State.log.append(str(message))


def logjobmsg(job_id, message):
    State.log.append("%s;%s" % (job_id, message))
