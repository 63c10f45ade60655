# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends requests to the wrapper's socket. Each request passes processes to pinfoldd. On the bus, only admins may pass processes to pinfoldd. Programs
of any user can use this module."""

import json
import os
import socket


class Refused(Exception):
    """Says that pinfoldd has refused a request. The text of the exception is the error's name."""


def ask(request, *pidfds):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect("/run/pinfold/wrapper.sock")
        socket.send_fds(connection, [json.dumps({"version": 1, **request}, separators=(",", ":")).encode()], list(pidfds))
        answer = json.loads(connection.recv(65536) or '{"error": "closed"}')
    for pidfd in pidfds:
        os.close(pidfd)
    if "error" in answer:
        raise Refused(answer["error"])
    return answer


def create(key, leader, supervisor=None, limits=None, **more):
    """`leader` and `supervisor` are pidfds. The parameter `more` can contain the members "role" and "owner" of the request."""
    supervised = {} if supervisor is None else {"supervised": True}
    fds = [fd for fd in (leader, supervisor) if fd is not None]
    return ask({"call": "create", "key": key, "limits": limits or {}, **supervised, **more}, *fds)


def add_task(key, leader, supervisor=None):
    return create(key, leader, supervisor, role="task")


def adopt(key, process, owner):
    return ask({"call": "adopt", "key": key, "owner": owner}, process)
