# A pytest plugin (-p verdicts): a line for each test as it ends, so that a run that is cut short still counts.
# It knows nothing of the suites; $VERDICTS names the file.
import os

import pytest

verdicts = open(os.environ["VERDICTS"], "a", buffering=1)
worst = {}
why = {}
RANK = {"passed": 0, "skipped": 1, "failed": 2}


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if type(report) is not pytest.TestReport:
        return
    before = worst.get(report.nodeid, "passed")
    worst[report.nodeid] = max(before, report.outcome, key=RANK.get)
    if report.failed and report.nodeid not in why:
        crash = getattr(report.longrepr, "reprcrash", None)
        why[report.nodeid] = " ".join((crash.message if crash else str(report.longrepr)).split())[:200]
    if report.when == "teardown":
        name = " ".join(report.nodeid.removeprefix("tests/").removeprefix("test/").split())
        verdicts.write(f"{worst.pop(report.nodeid)}\t{name}\t{why.pop(report.nodeid, '')}\n")
