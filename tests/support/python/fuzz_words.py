# SPDX-License-Identifier: LGPL-2.1-or-later
"""libFuzzer rarely guesses a name such as "task_memcg=". To help libFuzzer, each fuzz target gets a dictionary. A dictionary contains string literals
of the code that the fuzz target tests. The suite makes the dictionaries when it runs, so that the dictionaries have the newest names in the code."""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
TARGETS = sorted(source.stem for source in (TOP / "tests/fuzz").glob("*.cpp"))
LONGEST = 64  # libFuzzer ignores longer words

LIMITS = ["model/limit_table.cpp", "model/set_limit.cpp", "model/allocation.cpp", "model/allocation.hpp"]
JSON = [*LIMITS, "model/json_parts.hpp", "model/job_identity.hpp"]
RECEIPT = ["model/receipt.cpp", "model/receipt.hpp", "model/task_receipt.hpp", "model/usage.hpp", "model/oom.cpp", "model/oom.hpp"]
# Maps each fuzz target to files below src. The files contain the names that can occur in the input of the fuzz target. The source of a fuzz target
# contains the names of the input's sections.
SOURCES = {
    "archive_request": ["archive_client/archive_protocol.cpp", "model/receipt.cpp", "base/error_code.cpp"],
    "bus_answer": [*LIMITS, *RECEIPT, "bus_values/job_dict.cpp", "bus_values/receipt_dict.cpp", "model/job_identity.hpp", "model/job_info.hpp",
                   "model/job_state.cpp", "model/reconciliation.hpp", "../tests/fuzz/dictionary.hpp"],
    "bus_request": [*LIMITS, "bus/codec.cpp", "bus/manager_object.cpp", "bus_values/request_dict.cpp", "model/job_identity.hpp", "model/receipt.cpp",
                    "../tests/fuzz/dictionary.hpp"],
    "cgroup_files": ["os/cgroup.cpp"],
    "configuration": [*LIMITS, "config/archive_section.cpp", "config/config_loader.cpp", "config/strays_section.cpp", "base/parse.cpp",
                      "model/stray_kind.cpp"],
    "grid_engine_spool": ["adapters/grid_engine/outcome.cpp", "adapters/grid_engine/spool_config.cpp", "adapters/grid_engine/translate.cpp"],
    "job_record": [*JSON, *RECEIPT, "model/job_record.cpp", "model/job_state.cpp"],
    "kernel_log": ["os/kernel_log.cpp"],
    "memory_maps": ["os/memory_maps.cpp"],
    "proc_files": ["os/process.cpp", "os/fuse_mounts.cpp", "os/sysv_ipc.cpp", "adapters/slurm/translate.cpp"],
    "profile": ["model/profile.cpp", "model/profile_recorder.cpp"],
    "receipt": [*JSON, *RECEIPT, "model/receipt_json.cpp"],
    "torque_words": ["adapters/torque/translate.cpp", "base/time_limit.cpp"],
    "wrapper_packet": [*JSON, *RECEIPT, "model/wrapper_protocol.cpp", "model/job_state.cpp", "base/error_code.cpp"],
}


def literals(file):
    """Returns those string literals of a C++ file that can be names. A long literal with blanks is a message, and cannot be a name."""
    # A character literal or a comment can contain a quotation mark that does not begin a string.
    found = re.findall(r"""//.*|\#include.*|'(?:\\.|[^'\\\n])'|"((?:[^"\\\n]|\\.)*)\"""", file.read_text())
    texts = {text.encode().decode("unicode_escape") for text in found}
    return {text for text in texts if 2 <= len(text) <= (24 if " " in text else LONGEST) and text.isascii()}


def words(target):
    found = set().union(*map(literals, [TOP / "tests/fuzz" / f"{target}.cpp", *(TOP / "src" / name for name in SOURCES[target])]))
    # The targets bus_… read a name only at the beginning of a line.
    lines = ("\n{} t 1\n", "\n{} s x\n") if target.startswith("bus_") else ()
    return found | {line.format(word) for line in lines for word in found if re.fullmatch(r"[a-z]\w+", word)}


def dictionary(target):
    """Returns the words in the format of libFuzzer's option -dict."""
    def escaped(word):
        return re.sub(r'[^ -~]|["\\]', lambda match: f"\\x{ord(match[0]):02x}", word)
    return "".join(f'"{escaped(word)}"\n' for word in sorted(words(target)))
