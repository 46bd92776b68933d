"""Pulser's own way to the service: PasqalCloudConnection and the backends that use it."""

from dataclasses import replace

import pytest
from cloud_client import log_in
from machine import counts
from pasqal_cloud import RemoteEmuFreeBackend, RemoteMPSBackend, RemoteSVBackend
from pasqal_cloud.errors import BatchFetchingError
from pulser import AnalogDevice, MockDevice, QPUBackend, Sequence
from pulser.backend import BackendConfig, BitStrings, EmulationConfig, Results
from pulser.backend.remote import BatchStatus, RemoteResultsError
from pulser_sequences import connect, mappable, parametrized, plain
from pulser_simulation import QutipBackendV2, QutipConfig
from refusals import refused

emulators = [(RemoteEmuFreeBackend, "EMU_FREE"), (RemoteMPSBackend, "EMU_MPS"), (RemoteSVBackend, "EMU_SV")]
values = {"omega": 2.5, "duration": 400, "detunings": [0.0, 1.0]}


def bitstrings(results):
    return [dict(each.final_bitstrings) for each in results.results]


def serialised(final_bitstrings):
    """Results of an emulator, in the text that Pulser reads."""
    results = Results.from_final_bitstrings(
        atom_order=("q0", "q1", "q2"), total_duration=400, final_bitstrings=final_bitstrings
    )
    return results.to_abstract_repr()


def test_the_devices_are_those_that_were_announced(connection):
    devices = connection.fetch_available_devices()
    assert devices["FRESNEL"] == replace(AnalogDevice, name="FRESNEL")
    for _, device_type in emulators:
        assert devices[device_type] == replace(MockDevice, name=device_type, max_atom_num=12)


class TestQpu:
    def test_a_batch_is_submitted_and_its_results_come_back(self, connection, fresnel, machine):
        results = QPUBackend(plain(fresnel), connection).run([{"runs": 10}, {"runs": 20}])
        batch = connection.cloud_client.get_batch(results.batch_id)
        assert batch.device_type == "FRESNEL"
        assert [(job.id, job.runs) for job in batch.ordered_jobs] == list(zip(results.job_ids, [10, 20]))
        assert results.get_batch_status() is BatchStatus.PENDING
        with pytest.raises(RemoteResultsError):
            results.results
        first, second = results.job_ids
        machine.finish(second, counter={"000": 20})
        assert list(results.get_available_results()) == [second]
        machine.finish(first)
        assert results.get_batch_status() is BatchStatus.DONE
        assert bitstrings(results) == [counts, {"000": 20}]

    def test_the_number_of_runs_of_the_configuration(self, connection, fresnel):
        config = BackendConfig(default_num_shots=33)
        results = QPUBackend(plain(fresnel), connection, config=config).run()
        assert [job.runs for job in connection.cloud_client.get_batch(results.batch_id).ordered_jobs] == [33]

    def test_waiting(self, connection, fresnel, machine, project_id):
        with machine.working_on(project_id):
            results = QPUBackend(plain(fresnel), connection).run([{"runs": 10}], wait=True)
        assert bitstrings(results) == [counts]

    def test_a_parametrized_sequence(self, connection, fresnel, machine, project_id):
        jobs = [{"runs": 10, "variables": {**values, "omega": omega}} for omega in (1.0, 2.5)]
        with machine.working_on(project_id):
            results = QPUBackend(parametrized(fresnel), connection).run(jobs, wait=True)
        assert bitstrings(results) == [counts, counts]
        batch = connection.cloud_client.get_batch(results.batch_id)
        assert [job.variables for job in batch.ordered_jobs] == [job["variables"] for job in jobs]
        assert Sequence.from_abstract_repr(batch.sequence_builder).is_parametrized()

    def test_a_mappable_register(self, connection, fresnel, machine, project_id):
        jobs = [{"runs": 10, "variables": {"qubits": {"q0": 1, "q1": 4}}}]
        with machine.working_on(project_id, counter={"00": 9, "10": 1}):
            results = QPUBackend(mappable(fresnel), connection).run(jobs, wait=True)
        assert results.results[0].atom_order == ("q0", "q1")
        assert bitstrings(results) == [{"00": 9, "10": 1}]

    def test_an_open_batch(self, connection, fresnel, machine):
        backend = QPUBackend(parametrized(fresnel), connection)
        with backend.open_batch():
            first = backend.run([{"runs": 10, "variables": values}])
            second = backend.run([{"runs": 20, "variables": values}, {"runs": 30, "variables": values}])
            assert connection.cloud_client.get_batch(first.batch_id).open
        assert first.batch_id == second.batch_id
        batch = connection.cloud_client.get_batch(first.batch_id)
        assert not batch.open
        assert [job.runs for job in batch.ordered_jobs] == [10, 20, 30]
        assert [job.id for job in batch.ordered_jobs] == first.job_ids + second.job_ids
        for job_id in first.job_ids + second.job_ids:
            machine.finish(job_id)
        assert (bitstrings(first), bitstrings(second)) == ([counts], [counts, counts])
        assert first.get_batch_status() is BatchStatus.DONE

    def test_more_jobs_than_an_answer_holds(self, connection, fresnel):
        results = QPUBackend(plain(fresnel), connection).run([{"runs": 10}] * 150)
        assert len(set(results.job_ids)) == 150

    def test_a_job_that_failed_has_no_results(self, connection, fresnel, machine):
        results = QPUBackend(plain(fresnel), connection).run([{"runs": 10}, {"runs": 20}])
        first, second = results.job_ids
        machine.fail(first, "The register could not be assembled.")
        machine.finish(second)
        with pytest.raises(RemoteResultsError):
            results.results
        assert list(results.get_available_results()) == [second]

    def test_a_batch_that_was_cancelled(self, connection, fresnel):
        results = QPUBackend(plain(fresnel), connection).run([{"runs": 10}])
        connection.cloud_client.cancel_batch(results.batch_id)
        assert results.get_batch_status() is BatchStatus.CANCELED
        assert results.get_available_results() == {}

    def test_a_device_that_the_service_does_not_have(self, connection):
        with pytest.raises(ValueError, match="does not match any"):
            QPUBackend(plain(replace(AnalogDevice, name="Nowhere")), connection).run([{"runs": 10}])

    def test_more_runs_than_the_device_allows(self, connection, fresnel):
        with pytest.raises(ValueError, match="maximum allowed"):
            QPUBackend(plain(fresnel), connection).run([{"runs": fresnel.max_runs + 1}])


@pytest.mark.parametrize("backend_class, device_type", emulators)
class TestEmulators:
    def test_one_job_without_a_number_of_runs(self, connection, machine, backend_class, device_type):
        results = backend_class(plain(MockDevice), connection).run()
        batch = connection.cloud_client.get_batch(results.batch_id)
        assert batch.device_type == device_type
        assert [job.runs for job in batch.ordered_jobs] == [None]
        assert batch.backend_configuration == backend_class.default_config.to_abstract_repr()
        [job_id] = results.job_ids
        machine.finish(job_id, counter=counts, serialised_results=serialised(counts))
        assert bitstrings(results) == [counts]

    def test_a_configuration_and_waiting(self, connection, machine, project_id, backend_class, device_type):
        config = EmulationConfig(observables=[BitStrings(num_shots=50)], default_evaluation_times=(0.5, 1.0))
        backend = backend_class(plain(MockDevice), connection, config=config)
        with machine.working_on(project_id):
            results = backend.run([{}, {"runs": 12}], wait=True)
        assert bitstrings(results) == [counts, counts]
        batch = connection.cloud_client.get_batch(results.batch_id)
        assert batch.backend_configuration == backend._config.to_abstract_repr()
        assert [job.runs for job in batch.ordered_jobs] == [None, 12]

    def test_a_sequence_for_the_qpu(self, connection, fresnel, backend_class, device_type):
        results = backend_class(parametrized(fresnel), connection, mimic_qpu=True).run(
            [{"runs": 10, "variables": values}]
        )
        assert connection.cloud_client.get_batch(results.batch_id).device_type == device_type

    def test_an_open_batch(self, connection, backend_class, device_type):
        backend = backend_class(plain(MockDevice), connection)
        with backend.open_batch():
            first, second = backend.run(), backend.run([{"runs": 5}])
        batch = connection.cloud_client.get_batch(first.batch_id)
        assert (batch.open, batch.device_type) == (False, device_type)
        assert [job.id for job in batch.ordered_jobs] == first.job_ids + second.job_ids


def test_results_that_an_emulator_really_computed(connection, machine):
    sequence = plain(MockDevice)
    remote = RemoteEmuFreeBackend(sequence, connection).run()
    batch = connection.cloud_client.get_batch(remote.batch_id)
    submitted = Sequence.from_abstract_repr(batch.sequence_builder)
    times = (0.5, 1.0)
    config = QutipConfig(observables=[BitStrings(num_shots=100)], default_evaluation_times=times)
    computed = QutipBackendV2(submitted, config=config).run()
    machine.finish(
        remote.job_ids[0], counter=dict(computed.final_bitstrings), serialised_results=computed.to_abstract_repr()
    )
    [read] = remote.results
    assert [read.get_result("bitstrings", time) for time in times] == computed.bitstrings


def test_results_are_found_again_by_the_batchs_id(stack, writer, project_id, connection, fresnel, machine):
    submitted = QPUBackend(plain(fresnel), connection).run([{"runs": 10}, {"runs": 20}])
    first, second = submitted.job_ids
    machine.finish(first)
    machine.finish(second, counter={"000": 20})
    later = connect(stack, writer, project_id)
    assert bitstrings(later.get_results(submitted.batch_id)) == [counts, {"000": 20}]
    assert bitstrings(later.get_results(submitted.batch_id, job_ids=[second])) == [{"000": 20}]
    with pytest.raises(RuntimeError, match="does not contain jobs"):
        later.get_results(submitted.batch_id, job_ids=["another"])


def test_another_users_batch(stack, reader, project_id, connection, fresnel):
    results = QPUBackend(plain(fresnel), connection).run([{"runs": 10}])
    with refused(BatchFetchingError, 404):
        connect(stack, reader, project_id).get_results(results.batch_id, job_ids=results.job_ids)


def test_results_of_a_batch_that_was_made_without_pulser(stack, writer, project_id, connection, fresnel, machine):
    sequence = plain(fresnel)
    sequence.measure()
    batch = log_in(stack, writer, project_id).create_batch(sequence.to_abstract_repr(), [{"runs": 10}])
    machine.finish(batch.ordered_jobs[0].id)
    assert bitstrings(connection.get_results(batch.id)) == [counts]
