# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the CPU time in the receipts of jobs with the CPU time that wait4() reports. The jobs run in a container and not in the emulated machine,
because the host often interrupts the emulated machine for longer than a short job runs. `tests/batch/test_receipt.py` measures longer jobs on a kernel
with all controllers."""

import pytest

from spending import (
    KILLS,
    expect_mostly_close,
    finished,
    in_all_ways,
    in_both_modes,
    series,
    spend,
    subreaper,  # noqa: F401
)


@in_both_modes
@pytest.mark.parametrize("kind", ["user", "system"])
@pytest.mark.parametrize("length, times", [(50, 15), (1000, 3)])
def test_a_second_of_cpu_or_less(length, times, kind, mode):
    """The receipt includes the CPU time that a job used after the kernel's last tick. 2 % of 50 ms is 1 ms, and the test allows no larger
    error."""
    runs = [finished(key, spend(key, f"{kind}={length}", mode=mode), mode)
            for key in series(f"cpu.{mode}.{kind}{length}", times)]
    assert all(measured >= length * 1000 for _, measured, _ in runs)
    expect_mostly_close(runs)
    if length == 1000:  # the kernel estimates this split from its ticks
        assert all(receipt[f"cpu_{kind}"] >= 0.8 * measured for receipt, measured, _ in runs)


@in_both_modes
@in_all_ways
@pytest.mark.parametrize("length, times", [(50, 7), (1000, 3)])
def test_cpu_of_what_sigkill_ended(length, times, way, mode):
    then, kill = KILLS[way]
    words = ["processes=2", f"user={length // 2}", f"then={then}"]
    runs = [finished(key, spend(key, *words, mode=mode, options=["--kill-grace=0s"]), mode, kill)
            for key in series(f"killed.{mode}.{way}{length}", times)]
    assert all(measured >= length * 1000 for _, measured, _ in runs)
    expect_mostly_close(runs)
