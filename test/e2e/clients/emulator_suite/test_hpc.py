"""The batch script of docs/hpc.md: as it stands, and in a Slurm cluster on this machine."""

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

slurm = repository / "test/e2e/hpc/slurm.sh"
has_slurm = shutil.which("slurmctld") or shutil.which("apt-get")


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
        "PYTHONWARNINGS": "ignore",
        "FRESNEL_QRMI_PASQAL_CLOUD_AUTH_TOKEN": writer["token"],
        "FRESNEL_QRMI_PASQAL_CLOUD_PROJECT_ID": str(uuid4()),
    }


def set_by_plugin(folder, name):
    """What QRMI's SPANK plugin adds for --qpu=NAME, by its README: from the configuration, and the names."""
    resources = json.loads((folder / "qrmi_config.json").read_text())["resources"]
    [resource] = [each for each in resources if each["name"] == name]
    own = {f"{name}_{variable}": value for variable, value in resource["environment"].items()}
    return {**own, "QRMI_JOB_QPU_RESOURCES": name, "QRMI_JOB_QPU_TYPES": resource["type"]}


def check(output, folder):
    first, *others = output.splitlines()
    assert re.fullmatch(r"Job (\d+|without Slurm): FRESNEL \(pasqal-cloud\)", first)
    assert others[0].startswith("('q0', 'q1', 'q2', 'q3') {")
    excited = json.loads((folder / "sweep.json").read_text())
    assert list(excited) == ["100", "200", "300", "400", "500"]
    assert excited["100"] < 0.3 < 0.8 < excited["500"]
    assert others[1:] == [f"{each} ns: {value:.2f} excited" for each, value in excited.items()]


def test_the_batch_script_without_slurm(folder, user_environment):
    environment = {**user_environment, **set_by_plugin(folder, "FRESNEL")}
    done = subprocess.run(["bash", "rabi.sh"], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    check(done.stdout, folder)


@pytest.mark.skipif(not has_slurm, reason="Slurm is not installed, and Debian's packages cannot be fetched.")
def test_the_batch_script_in_slurm(folder, user_environment):
    """With the plugin that SPANK_QRMI names; without it, Slurm does not know --qpu, and sbatch hands on what it would set."""
    plugin = os.environ.get("SPANK_QRMI")
    environment, line = user_environment, []
    if plugin:
        line = [f"required {plugin} {folder}/qrmi_config.json"]
    else:
        environment = {**environment, **set_by_plugin(folder, "FRESNEL")}
        script = folder / "rabi.sh"
        script.write_text(script.read_text().replace("#SBATCH --qpu=FRESNEL\n", ""))
    packages = Path(sys.prefix).parent / "slurm"
    command = [slurm, packages, *line, "--", "sbatch", "--wait", "rabi.sh"]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    output = (folder / "rabi.out").read_text()
    assert output.startswith("Job 1: ")
    check(output, folder)
