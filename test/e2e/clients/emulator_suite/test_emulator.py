"""Nothing is played here: Pulser submits, the emulator works, Pulser reads back."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from ast import literal_eval
from types import SimpleNamespace
from uuid import uuid4

import pytest
import requests
from emulators import Emulator, make_environment, packages, repository, wait_until
from pasqal_cloud import RemoteEmuFreeBackend, RemoteMPSBackend, RemoteSVBackend
from pasqal_cloud.device import DeviceTypeName
from pasqal_cloud.errors import BatchCreationError
from pulser import AnalogDevice, MockDevice, NoiseModel, QPUBackend, Register
from pulser.backend import BitStrings, EmulationConfig, Energy, Occupation
from pulser.backend.remote import BatchStatus, RemoteResultsError
from pulser_sequences import connect, mappable, parametrized, plain
from pulser_simulation import QutipBackendV2, QutipConfig
from scipy.stats import chi2_contingency

backends = {"EMU_FREE": RemoteEmuFreeBackend, "EMU_MPS": RemoteMPSBackend, "EMU_SV": RemoteSVBackend}
values = {"omega": 2.5, "duration": 400, "detunings": [0.0, 1.0]}

# The local stack polls at its own pace, and a canceled job is heard of with the next heartbeat.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="session")
def connection(stack, writer):
    return connect(stack, writer, str(uuid4()))


@pytest.fixture(scope="session")
def cloud(connection):
    return connection.cloud_client


@pytest.fixture(scope="session")
def fresnel(connection):
    return connection.fetch_available_devices()["FRESNEL"]


@pytest.fixture(scope="session")
def interrupted(connection, cloud, tmp_path_factory):
    """Two batches whose emulators ended in the middle of the second job: one was killed, the other one stopped."""
    make_environment()
    log = (tmp_path_factory.mktemp("emulator") / "log").open("w")

    def interrupt(device_type, end):
        emulator = Emulator(os.environ["STACK_JSON"], log, device_type)
        # emu-mps and emu-sv need seconds for what QuTiP does at once.
        results = backends[device_type](slow(1_000 if packages else 40_000), connection).run([{"runs": 5}, {"runs": 6}])
        wait_until(lambda: statuses(cloud, results) == ["DONE", "RUNNING"])
        end(emulator)
        return results

    return SimpleNamespace(killed=interrupt("EMU_SV", Emulator.kill), stopped=interrupt("EMU_MPS", Emulator.stop))


@pytest.fixture(scope="session", autouse=True)
def emulator(interrupted, tmp_path_factory):
    """At work for all four device types, after others were interrupted."""
    path = tmp_path_factory.mktemp("emulator") / "log"
    with path.open("w") as log:
        running = Emulator(os.environ["STACK_JSON"], log)
        yield
        running.stop()
    print(path.read_text())


def slow(nanoseconds):
    """Ten atoms: simulating 10,000 ns takes about a second."""
    return plain(MockDevice, Register.rectangle(2, 5, spacing=6, prefix="q"), nanoseconds)


def finish(results):
    """Waits until no job of these results is unfinished: sooner than Pulser does, which asks ever more rarely."""
    connection = results._connection
    wait_until(lambda: not set(statuses(connection.cloud_client, results)) & {"PENDING", "RUNNING"})
    return results


def counts(results):
    return [dict(each.final_bitstrings) for each in results.results]


def shots(results):
    return [sum(each.values()) for each in counts(results)]


def statuses(cloud, results):
    return [job.status for job in cloud.get_batch(results.batch_id).ordered_jobs]


class TestQpu:
    def test_two_jobs_and_waiting(self, connection, cloud, fresnel):
        results = QPUBackend(plain(fresnel), connection).run([{"runs": 10}, {"runs": 20}], wait=True)
        assert shots(results) == [10, 20]
        assert all(len(bits) == 3 for each in counts(results) for bits in each)
        batch = cloud.get_batch(results.batch_id)
        assert (batch.status, batch.device_type) == ("DONE", "FRESNEL")
        for job in batch.ordered_jobs:
            assert job.full_result["serialised_results"] is None
            assert job.start_timestamp < job.end_timestamp

    def test_a_parametrized_sequence(self, connection, fresnel):
        jobs = [{"runs": 50, "variables": {**values, "omega": omega}} for omega in (0.0, 2.5)]
        assert shots(finish(QPUBackend(parametrized(fresnel), connection).run(jobs))) == [50, 50]

    def test_a_mappable_register(self, connection, fresnel):
        jobs = [{"runs": 10, "variables": {"qubits": {"q0": 1, "q1": 40}}}]
        [result] = finish(QPUBackend(mappable(fresnel), connection).run(jobs)).results
        assert result.atom_order == ("q0", "q1")
        assert {len(bits) for bits in result.final_bitstrings} == {2}

    def test_an_open_batch_whose_next_job_follows_from_the_last_result(self, connection, fresnel):
        backend = QPUBackend(parametrized(fresnel), connection)
        with backend.open_batch():
            first = backend.run([{"runs": 10, "variables": {**values, "omega": 1.0}}], wait=True)
            [counted] = counts(first)
            second = finish(backend.run([{"runs": 10 + len(counted), "variables": values}]))
            assert first.batch_id == second.batch_id
            assert shots(second) == [10 + len(counted)]
            assert first.get_batch_status() is BatchStatus.RUNNING
        wait_until(lambda: first.get_batch_status() is BatchStatus.DONE)

    def test_what_the_qpu_cannot_do(self, cloud, fresnel):
        sequence = plain(fresnel)
        sequence.measure()
        # Without an operation: checks before the queue leave that to the device.
        empty = json.dumps({**json.loads(sequence.to_abstract_repr()), "operations": []})
        batch = cloud.create_batch(empty, [{"runs": 10}], device_type=DeviceTypeName.FRESNEL, wait=True)
        [job] = batch.ordered_jobs
        assert job.status == "ERROR"
        assert "cannot run on FRESNEL" in job.errors[0]

    def test_what_is_refused_before_the_queue(self, cloud):
        sequence = plain(MockDevice)
        sequence.measure()
        with pytest.raises(BatchCreationError, match="The Rydberg level of FRESNEL is 60, not 70."):
            cloud.create_batch(sequence.to_abstract_repr(), [{"runs": 10}], device_type=DeviceTypeName.FRESNEL)


class TestEmulators:
    """All three at the same time."""

    def test_the_default_configuration(self, connection):
        started = [backend(plain(MockDevice), connection).run([{}, {"runs": 12}]) for backend in backends.values()]
        for backend, results in zip(backends.values(), started):
            assert shots(finish(results)) == [backend.default_config.default_num_shots, 12]

    def test_observables_at_several_times_and_waiting(self, connection):
        observables = [BitStrings(num_shots=50), Occupation(), Energy(evaluation_times=(0.25,))]
        config = EmulationConfig(observables=observables, default_evaluation_times=(0.5, 1.0))
        for backend in backends.values():
            [result] = backend(plain(MockDevice), connection, config=config).run(wait=True).results
            assert [sum(each.values()) for each in result.bitstrings] == [50, 50]
            assert result.get_result_times(observables[1]) == [0.5, 1.0]
            assert [len(each) for each in result.occupation] == [3, 3]
            assert result.get_result_times("energy") == [0.25]

    def test_variables(self, connection, fresnel):
        jobs = [{"runs": 10, "variables": values}]
        started = [
            backend(parametrized(fresnel), connection, mimic_qpu=True).run(jobs) for backend in backends.values()
        ]
        assert [shots(finish(results)) for results in started] == [[10]] * 3

    def test_a_mappable_register(self, connection, fresnel):
        jobs = [{"runs": 10, "variables": {"qubits": {"q0": 1, "q1": 40}}}]
        for results in [backend(mappable(fresnel), connection).run(jobs) for backend in backends.values()]:
            [result] = finish(results).results
            assert result.atom_order == ("q0", "q1")

    def test_an_open_batch(self, connection):
        for backend in backends.values():
            emulator = backend(plain(MockDevice), connection)
            with emulator.open_batch():
                first, second = finish(emulator.run([{"runs": 5}])), finish(emulator.run([{"runs": 7}]))
            assert (shots(first), shots(second)) == ([5], [7])
            wait_until(lambda: first.get_batch_status() is BatchStatus.DONE)


class TestFaults:
    def test_a_wrong_sequence_is_an_error_and_the_next_job_runs(self, cloud):
        sequence = plain(MockDevice)
        sequence.measure()
        right = sequence.to_abstract_repr()
        # A later form, which checks before the queue leave to the device.
        wrong = json.dumps({**json.loads(right), "version": "2"})
        batch = cloud.create_batch(
            None,
            [{"runs": 5, "serialized_sequence": wrong}, {"runs": 6, "serialized_sequence": right}],
            device_type=DeviceTypeName.EMU_FREE,
            wait=True,
        )
        first, second = batch.ordered_jobs
        assert (first.status, second.status) == ("ERROR", "DONE")
        [text] = first.errors
        assert text.startswith("The sequence cannot be read: ")
        assert "Traceback" not in text
        assert first.full_result is None
        assert sum(second.result.values()) == 6

    def test_too_many_atoms(self, connection, cloud):
        sequence = plain(MockDevice, Register.rectangle(1, 13, spacing=6, prefix="q"))
        results = finish(RemoteEmuFreeBackend(sequence, connection).run([{"runs": 5}]))
        with pytest.raises(RemoteResultsError, match="not available for all jobs"):
            results.results
        [job] = cloud.get_batch(results.batch_id).ordered_jobs
        assert "at most 12" in job.errors[0]
        assert "EMU_MPS takes more" in job.errors[0]

    def test_a_job_that_runs_is_canceled_and_the_device_takes_the_next_one(self, connection, cloud):
        canceled = RemoteEmuFreeBackend(slow(1_000_000), connection).run([{"runs": 5}])
        wait_until(lambda: statuses(cloud, canceled) == ["RUNNING"])
        cloud.cancel_batch(canceled.batch_id)
        assert statuses(cloud, canceled) == ["CANCELED"]
        following = RemoteEmuFreeBackend(plain(MockDevice), connection).run([{"runs": 5}])
        assert shots(finish(following)) == [5]
        assert statuses(cloud, canceled) == ["CANCELED"]


class TestPhysics:
    @pytest.mark.parametrize("device_type", ["FRESNEL", "EMU_FREE"])
    def test_a_pi_pulse_excites_one_of_two_atoms_in_blockade(self, connection, fresnel, device_type):
        """By symmetry each one as often as the other; the blockade turns the pair faster, by the root of two."""
        device, backend = (fresnel, QPUBackend) if device_type == "FRESNEL" else (MockDevice, RemoteEmuFreeBackend)
        register = Register.from_coordinates([(0, 0), (0, 5)], prefix="q").with_automatic_layout(AnalogDevice)
        pair = plain(device, register, 1000, math.pi / math.sqrt(2))
        [counted] = counts(finish(backend(pair, connection).run([{"runs": 2000}])))
        # Six standard deviations. The blockade is not perfect: less than one pair in a hundred is
        # excited otherwise.
        assert abs(counted["01"] - counted["10"]) < 6 * math.sqrt(2000)
        assert counted["01"] + counted["10"] > 1960


class TestNoise:
    """The numbers of a calibration: a simulation by hand with their NoiseModel, and one by the service."""

    def test_emulated_counts_agree_with_those_of_the_emulator_that_was_given_the_noise_model(self, connection):
        model = NoiseModel(p_false_pos=0.03, p_false_neg=0.08, relaxation_rate=0.5, dephasing_rate=0.3)
        pulses = plain(MockDevice, Register.from_coordinates([(0, 0), (0, 6)], prefix="q"))
        observables = [BitStrings(num_shots=20_000)]

        def simulate(noise):
            config = QutipConfig(observables=[BitStrings(num_shots=20_000, one_state="r")], noise_model=noise)
            return QutipBackendV2(pulses, config=config).run().final_bitstrings

        def agreement(one, other):
            bits = sorted(one | other)
            return chi2_contingency([[counter.get(each, 0) for each in bits] for counter in (one, other)]).pvalue

        config = EmulationConfig(observables=observables, noise_model=model)
        [counted] = counts(finish(RemoteEmuFreeBackend(pulses, connection, config=config).run([{}])))
        # By chance less than once in a million runs.
        assert agreement(counted, simulate(model)) > 1e-7
        assert agreement(counted, simulate(NoiseModel())) < 1e-9


@pytest.mark.skipif(packages is None, reason="EMULATOR_WITH names no packages")
class TestPackages:
    def test_twenty_atoms(self, connection, cloud):
        chain = plain(MockDevice, Register.rectangle(1, 20, spacing=6, prefix="q"))
        [counted] = counts(finish(RemoteMPSBackend(chain, connection).run([{"runs": 40}])))
        assert (sum(counted.values()), {len(bits) for bits in counted}) == (40, {20})

    def test_what_the_client_configures_is_used(self, connection):
        config = EmulationConfig(observables=[BitStrings(), Occupation()], dt=20.0, precision=1e-6, max_bond_dim=16)
        [result] = finish(RemoteMPSBackend(plain(MockDevice), connection, config=config).run([{}])).results
        # Only emu-mps knows its bond dimensions: one for each step.
        assert [0 < each["max_bond_dimension"] <= 16 for each in result.statistics] == [True] * 20

    def test_a_job_that_runs_is_canceled_and_the_device_takes_the_next_one(self, connection, cloud):
        long = plain(MockDevice, Register.rectangle(4, 5, spacing=6, prefix="q"), 100_000)
        canceled = RemoteMPSBackend(long, connection).run([{"runs": 5}])
        wait_until(lambda: statuses(cloud, canceled) == ["RUNNING"])
        cloud.cancel_batch(canceled.batch_id)
        following = RemoteMPSBackend(plain(MockDevice), connection).run([{"runs": 5}])
        assert shots(finish(following)) == [5]
        assert statuses(cloud, canceled) == ["CANCELED"]


class TestInterruptions:
    """Last, since a lease lives for a minute after its worker."""

    def test_what_a_stopped_worker_had_is_run_again_at_once(self, cloud, interrupted):
        wait_until(lambda: statuses(cloud, interrupted.stopped) == ["DONE", "DONE"], 30)
        assert shots(interrupted.stopped) == [5, 6]

    def test_what_a_killed_worker_had_is_run_by_another_one(self, cloud, interrupted):
        finished_before = cloud.get_batch(interrupted.killed.batch_id).ordered_jobs[0]
        wait_until(lambda: statuses(cloud, interrupted.killed) == ["DONE", "DONE"], 90)
        assert shots(interrupted.killed) == [5, 6]
        first, second = cloud.get_batch(interrupted.killed.batch_id).ordered_jobs
        assert first.end_timestamp == finished_before.end_timestamp
        assert interrupted.killed.get_batch_status() is BatchStatus.DONE


def without_numbers(text):
    """How a printed text looks, whatever the experiment's values were."""
    return re.sub(r"[\d\s]+", " ", text)


def documented_program(page):
    """The first Python program of a page."""
    return re.search(r"```python\n(.*?)```", (repository / page).read_text(), re.DOTALL)[1]


class TestDocuments:
    @pytest.fixture(autouse=True)
    def described(self, stack, writer, tmp_path):
        """A description whose first user is not the one whose data other suites compare."""
        (tmp_path / ".local").mkdir()
        (tmp_path / ".local/stack.json").write_text(json.dumps({**vars(stack), "users": [writer]}))

    def test_the_first_batch(self, tmp_path):
        program = [sys.executable, "-W", "ignore", repository / "docs/first.py"]
        done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
        counter = literal_eval(done.stdout.strip().removeprefix("Counter(").removesuffix(")"))
        assert sum(counter.values()) == 100
        assert counter["01"] + counter["10"] > 80

    def test_a_pipeline(self, tmp_path):
        (tmp_path / "test_pair.py").write_text(documented_program("docs/ci.md"))
        environment = {**os.environ, "STACK_JSON": str(tmp_path / ".local/stack.json")}
        subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, env=environment, check=True)

    def test_one_program_for_two_clouds(self, tmp_path, monkeypatch):
        monkeypatch.setenv("STACK_JSON", str(tmp_path / ".local/stack.json"))
        names = {}
        exec(documented_program("docs/from-pasqal.md"), names)
        assert "FRESNEL" in names["connect"](str(uuid4())).fetch_available_devices()

    def test_the_tutorial(self, tmp_path, monkeypatch, capsys):
        """Each cell of the notebook prints what the page shows, but for the numbers; and the physics is right."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MPLBACKEND", "Agg")
        names = {}
        for cell in json.loads((repository / "docs/tutorial.ipynb").read_text())["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
                shown = "".join(line for output in cell["outputs"] for line in output["text"])
                assert without_numbers(capsys.readouterr().out) == without_numbers(shown)
        assert abs(names["factor"](names["alone"]) - 1) < 0.05
        assert abs(names["factor"](names["pair"]) - math.sqrt(2)) < 0.05
        assert names["again"] > 0.6
        assert all((tmp_path / name).stat().st_size > 1000 for name in ("rabi.csv", "rabi.png", "learning.png"))

    def test_the_examples_of_the_api_run(self, stack, cloud, writer, tmp_path):
        """The form's body, and each snippet as a reader copies it."""
        operation = requests.get(stack.openapiUrl).json()["paths"]["/api/v1/batches"]["post"]
        headers = {"Authorization": f"Bearer {writer['token']}"}

        def newest():
            page = requests.get(f"{stack.baseUrl}/api/v1/batches?limit=1", headers=headers).json()
            return page["pagination"]["total"], page["data"][0]["id"]

        def submit_body():
            body = operation["requestBody"]["content"]["application/json"]["example"]
            requests.post(f"{stack.baseUrl}/api/v1/batches", json=body, headers=headers).raise_for_status()

        def submit_snippet(sample):
            source = sample["source"].replace("https://api.example.org", stack.baseUrl)
            (tmp_path / "snippet.mts").write_text(source)
            node = str(repository / "node_modules/.bin/node")
            command = {
                "Shell": ["bash", "-euc", source],
                "Python": [sys.executable, "-W", "ignore", "-c", source],
                "TypeScript": [node, "--no-warnings", str(tmp_path / "snippet.mts")],
            }[sample["lang"]]
            subprocess.run(command, env={**os.environ, "TOKEN": writer["token"]}, check=True, stdout=subprocess.DEVNULL)

        samples = operation["x-codeSamples"]
        assert [sample["lang"] for sample in samples] == ["Shell", "Python", "TypeScript"]
        batches = []
        for submit in [submit_body, *(lambda sample=sample: submit_snippet(sample) for sample in samples)]:
            before, _ = newest()
            submit()
            after, batch = newest()
            assert after == before + 1
            batches.append(batch)
        wait_until(lambda: all(cloud.get_batch(batch).status == "DONE" for batch in batches))
        for batch in batches:
            [job] = cloud.get_batch(batch).ordered_jobs
            assert (job.status, sum(job.result.values())) == ("DONE", 100)

    @pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed.")
    def test_the_unit_of_the_worker(self, tmp_path):
        unit = (repository / "docs/guides/worker.service").read_text()
        file = tmp_path / "lab-1.service"
        file.write_text(unit.replace("/opt/worker/venv/bin/python", sys.executable))
        # It exits with 0 where it ignores a line that is wrong.
        done = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_the_complete_worker(self, stack, cloud, writer, tmp_path):
        """It builds the sequence, survives its own `run`, reports faults, and gives its batch back at its end."""
        program = (repository / "docs/guides/worker.py").read_text()
        line = '    return {"counter": {"0" * len(qubits): runs}}\n'
        assert line in program
        failing = """    if job["runs"] == 7: raise JobFault("Seven is too many.")
    if job["runs"] == 8: raise RuntimeError("The machine is at fault.")
    if job["runs"] == 9: Path("begun").touch() or time.sleep(60)
    if job["runs"] == 10: raise JobFault('"' * 20_000)
    if job["runs"] == 11: return {"counter": {"000": 11}, "raw": "0" * 2_000_000}
"""
        (tmp_path / "worker.py").write_text(program.replace(line, failing + line))
        device_type = f"LAB_{uuid4().hex[:8]}"
        (tmp_path / "specs.json").write_text(MockDevice.to_abstract_repr())
        environment = {
            "API": stack.baseUrl,
            "TOKEN_ENDPOINT": stack.tokenEndpoint,
            "DEVICE_CLIENT_ID": stack.device["username"],
            "DEVICE_CLIENT_SECRET": stack.device["password"],
            "DEVICE_TYPE": device_type,
            "DEVICE_SPECS": str(tmp_path / "specs.json"),
        }

        def start(log, **changed):
            command = [sys.executable, tmp_path / "worker.py"]
            return subprocess.Popen(
                command, env={**os.environ, **environment, **changed}, cwd=tmp_path, stdout=log, stderr=log
            )

        log = tmp_path / "log"
        worker = start(log.open("w"))
        headers = {"Authorization": f"Bearer {writer['token']}"}

        def create(*runs, make=plain, **variables):
            body = {
                "project_id": str(uuid4()),
                "device_type": device_type,
                "sequence_builder": make(MockDevice).to_abstract_repr(),
                "jobs": [{"runs": each, **variables} for each in runs],
            }
            return requests.post(f"{stack.baseUrl}/api/v1/batches", json=body, headers=headers).json()["data"]["id"]

        try:
            devices = f"{stack.baseUrl}/api/v1/devices?device_type={device_type}"
            wait_until(lambda: [each["availability"] for each in requests.get(devices).json()["data"]] == ["ACTIVE"])
            create(8)
            # The third one's results are too large for its report.
            batch = create(5, 7, 11, 6)
            wait_until(lambda: cloud.get_batch(batch).status == "DONE")
            first, second, large, third = cloud.get_batch(batch).ordered_jobs
            assert [sum(job.result.values()) for job in (first, large, third)] == [5, 11, 6]
            assert (second.status, second.errors) == ("ERROR", ["Seven is too many."])
            values = {"omega": 2.0, "duration": 400, "detunings": [0.0, 1.0]}
            batches = (
                create(10),
                create(5, make=parametrized, variables=values),
                create(5, make=mappable, variables={"qubits": {"q1": 25, "q0": 22}}),
            )
            wait_until(lambda: all(cloud.get_batch(each).status == "DONE" for each in batches))
            long, built, placed = [cloud.get_batch(each).ordered_jobs[0] for each in batches]
            assert (long.status, long.errors) == ("ERROR", ['"' * 2_000])
            assert [built.result, placed.result] == [{"000": 5}, {"00": 5}]
            batch = create(9)
            # Before the answer to its claim has come it has no lease that it could give back.
            wait_until((tmp_path / "begun").exists)
            assert cloud.get_batch(batch).status == "RUNNING"
            worker.terminate()
            assert worker.wait(timeout=600) == 0
            lines = log.read_text()
            assert f" {device_type} waits for work, as " in lines
            assert f" {device_type} begins job {third.id} of batch " in lines
            assert f" {device_type} reported job {third.id}: DONE after " in lines
            gave_back, ends = lines.splitlines()[-2:]
            assert gave_back.endswith(f" {device_type} gave back batch {batch}")
            assert ends.endswith(f" {device_type} ends: SIGTERM")
            token = {"Authorization": f"Bearer {stack.device['token']}"}
            claims = f"{stack.baseUrl}/api/v1/devices/{device_type}/claim"
            answer = requests.post(claims, json={"worker": "the next"}, headers=token).json()["data"]
            assert answer["batch"]["id"] == batch
            assert start(log.open("w"), DEVICE_CLIENT_SECRET="wrong").wait(timeout=600) == 1
            assert log.read_text().startswith(f"{device_type} is refused: 401 ")
        finally:
            worker.kill()
            worker.wait()
