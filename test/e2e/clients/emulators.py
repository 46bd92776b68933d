"""Emulators that run as their users run them, and can be stopped or killed."""

import os
import signal
import subprocess
import time
from pathlib import Path

repository = Path(__file__).parents[3]
python = repository / ".local/emulator/bin/python"
# For example emu-mps,emu-sv: PyTorch is too large for each run of the tests.
packages = os.environ.get("EMULATOR_WITH")
added = [f"--with={packages}"] if packages else []


def make_environment():
    """What the first `npm run emulator` does."""
    subprocess.run(
        ["npm", "run", "--silent", "emulator", "--", *added, "--help"], cwd=repository, check=True, stdout=subprocess.DEVNULL
    )


class Emulator:
    """Workers for these device types, in one process."""

    def __init__(self, stack_json, log, *device_types):
        types = [f"--device-type={each}" for each in device_types]
        command = [python, repository / "infra/local/emulator/emulator.py", f"--stack={stack_json}", *types, *added]
        self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(30) == 0

    def kill(self):
        self._process.kill()
        self._process.wait()


def wait_until(condition, seconds=600):
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.2)
    return value
