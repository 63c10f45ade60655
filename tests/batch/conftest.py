# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable

disposable.require()

from alone import one_failure_alone  # noqa: E402, F401
from failures import pytest_runtest_makereport  # noqa: E402, F401
from frozen import frozen  # noqa: E402, F401
