# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives a headless Chromium by the DevTools protocol over a pair of pipes (--remote-debugging-pipe)."""

import base64
import itertools
import json
import os
import select
import struct
import subprocess
import time
import zlib

PROGRAM = "chromium-headless-shell"
DEADLINE = 120.0  # the deadline is in seconds; it is long, because the machine may be busy
# This script returns facts about the page as the browser shows it. An element that is wider than the window must be inside of a box that
# scrolls.
FACTS = """
(() => {
    const all = [...document.querySelectorAll('*')];
    const fits = e => e.closest('pre, .wide') || e.getBoundingClientRect().right <= innerWidth + 1;
    const box = e => { const r = e.getBoundingClientRect(); return [r.width, r.height]; };
    return {
        title: document.title,
        elements: [...new Set(all.map(e => e.localName))],
        handlers: all.flatMap(e => e.getAttributeNames()).filter(name => name.startsWith('on')),
        text: document.body.innerText,
        width: document.documentElement.scrollWidth,
        outside: all.filter(e => document.body.contains(e) && !fits(e)).map(e => e.outerHTML.slice(0, 100)),
        scrolling: [...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth).length,
        pictures: [...document.querySelectorAll('svg')].map(box),
        curves: [...document.querySelectorAll('svg path')].map(path => path.getBBox().height),
    };
})()
"""


class Page:
    """Describes how the browser shows a page: the result of FACTS, the addresses that the browser asked for, and a picture."""

    def __init__(self, facts, requests, picture):
        self.facts, self.requests, self.picture = facts, requests, picture

    def __getattr__(self, name):
        return self.facts[name]


class Browser:
    def __init__(self, directory):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        command = [PROGRAM, "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={directory}", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", *command],
                                        pass_fds=[theirs_in, theirs_out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.input, self.output, self.pending = ours_in, ours_out, b""
        self.numbers, self.events = itertools.count(1), []

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.input)
        os.close(self.output)

    def receive(self, end):
        while b"\0" not in self.pending:
            assert select.select([self.input], [], [], max(0.0, end - time.monotonic()))[0], f"the browser is silent for {DEADLINE} s"
            part = os.read(self.input, 1 << 20)
            assert part, f"the browser has ended with status {self.process.wait()}"
            self.pending += part
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        number, end = next(self.numbers), time.monotonic() + DEADLINE
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while (answer := self.receive(end)).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def wait_for_load(self, loader):
        """Waits until the browser has loaded the page with the loader id `loader`. The browser first loads an empty page, which has a different
        loader id."""
        end = time.monotonic() + DEADLINE
        while not any(event["params"].get("name") == "load" and event["params"]["loaderId"] == loader for event in self.events):
            self.events.append(self.receive(end))

    def open(self, address, width):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable", session)
        self.call("Page.setLifecycleEventsEnabled", session, enabled=True)
        self.call("Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.events = []
        loader = self.call("Page.navigate", session, url=address)["loaderId"]
        self.wait_for_load(loader)
        facts = self.call("Runtime.evaluate", session, expression=FACTS, returnByValue=True)["result"]["value"]
        picture = self.call("Page.captureScreenshot", session, captureBeyondViewport=True)["data"]
        requests = [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        self.call("Target.closeTarget", targetId=target)
        return Page(facts, requests, base64.b64decode(picture))


def lines_of(picture):
    """Returns the number of distinct lines of pixels in a PNG picture. The picture of an empty page has only a few distinct lines of pixels."""
    data, at, packed = picture, 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colours = struct.unpack(">IIBB", data[at + 8:at + 18])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    row = 1 + width * {2: 3, 6: 4}[colours]
    raw = zlib.decompress(packed)
    return len({raw[start:start + row] for start in range(0, height * row, row)})
