"""The batch script of docs/hpc.md, in a Slurm cluster on this machine."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from emulators import Emulator, make_environment, repository


@pytest.fixture(scope="module", autouse=True)
def qpu(tmp_path_factory):
    """At work for FRESNEL."""
    make_environment()
    with (tmp_path_factory.mktemp("emulator") / "log").open("w") as log:
        running = Emulator(os.environ["STACK_JSON"], log, "FRESNEL")
        yield
        running.stop()


@pytest.fixture
def folder(stack, tmp_path):
    """The files of the page, for this stack."""
    shutil.copytree(repository / "docs/hpc", tmp_path, dirs_exist_ok=True)
    config = tmp_path / "qrmi_config.json"
    config.write_text(config.read_text().replace("https://quantum.example.org", stack.baseUrl))
    return tmp_path


@pytest.fixture
def user_environment(writer):
    """What the user exports before `sbatch`."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "FRESNEL_QRMI_PASQAL_CLOUD_AUTH_TOKEN": writer["token"],
        "FRESNEL_QRMI_PASQAL_CLOUD_PROJECT_ID": str(uuid4()),
    }


def set_by_plugin(folder, name):
    """What QRMI's SPANK plugin adds for --qpu=NAME, by its README: from the configuration, and the names."""
    resources = json.loads((folder / "qrmi_config.json").read_text())["resources"]
    [resource] = [each for each in resources if each["name"] == name]
    own = {f"{name}_{variable}": value for variable, value in resource["environment"].items()}
    return {**own, "QRMI_JOB_QPU_RESOURCES": name, "QRMI_JOB_QPU_TYPES": resource["type"]}


def run_script(folder, environment):
    """What the batch script prints: in Slurm where it is installed or can be unpacked, otherwise in Bash.

    Slurm knows --qpu by the plugin that SPANK_QRMI names. Without it, `sbatch` hands on what the plugin would set.
    """
    plugin = os.environ.get("SPANK_QRMI")
    plugin_line = [f"required {plugin} {folder}/qrmi_config.json"] if plugin else []
    if not plugin:
        environment = {**environment, **set_by_plugin(folder, "FRESNEL")}
    if not shutil.which("slurmctld") and not shutil.which("apt-get"):
        return subprocess.check_output(["bash", "rabi.sh"], cwd=folder, env=environment, text=True)
    if not plugin:
        script = folder / "rabi.sh"
        script.write_text(script.read_text().replace("#SBATCH --qpu=FRESNEL\n", ""))
    packages = Path(sys.prefix).parent / "slurm"
    slurm = [repository / "test/e2e/hpc/slurm.sh", packages, *plugin_line, "--"]
    subprocess.run([*slurm, "sbatch", "--wait", "rabi.sh"], cwd=folder, env=environment, check=True)
    return (folder / "rabi.out").read_text()


def test_the_batch_script(folder, user_environment):
    output = run_script(folder, user_environment)
    # Pulser warns of a class of its own.
    first, run, *durations = [line for line in output.splitlines() if "Warning" not in line]
    assert re.fullmatch(r"Job (1|without Slurm): FRESNEL \(pasqal-cloud\)", first)
    assert run.startswith("('q0', 'q1', 'q2', 'q3') {")
    excited = json.loads((folder / "sweep.json").read_text())
    assert list(excited) == ["100", "200", "300", "400", "500"]
    assert excited["100"] < 0.3 < 0.8 < excited["500"]
    assert durations == [f"{each} ns: {value:.2f} excited" for each, value in excited.items()]
