"""A worker's life, against a stand-in for the service that fails when the test wants it."""

import json
import multiprocessing
import sys
import threading
import time
import unittest
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from pulser import MockDevice, Pulse, Register, Sequence
from stand_in import StandIn

local = Path(__file__).parents[2] / "infra" / "local"
sys.path.insert(0, str(local / "emulator"))
import heartbeats as heartbeats_module  # noqa: E402
import service as service_module  # noqa: E402
import worker as worker_module  # noqa: E402
from child import Model  # noqa: E402
from heartbeats import Heartbeats  # noqa: E402
from service import Answer, Refusal, Service  # noqa: E402
from worker import Worker  # noqa: E402

specs = json.loads((local / "demo" / "device-specs.json").read_text())["EMU_FREE"]


def sequence(atoms=1, duration=400, amplitude=2):
    new = Sequence(Register.rectangle(1, atoms, spacing=5, prefix="q"), MockDevice)
    new.declare_channel("global", "rydberg_global")
    new.add(Pulse.ConstantPulse(duration, amplitude, 0, 0), "global")
    new.measure()
    return new.to_abstract_repr()


def job(name, text=None):
    return {"id": name, "runs": 10, "variables": None, "sequence": text}


# Runs for hours.
endless = sequence(atoms=12, duration=1_000_000)


class Workers(unittest.TestCase):
    def setUp(self):
        self.stopping = threading.Event()
        self.output = StringIO()
        self.waits, service_module.WAITS_SECONDS = service_module.WAITS_SECONDS, (0, 0, 0)

    def tearDown(self):
        service_module.WAITS_SECONDS = self.waits

    @contextmanager
    def working(self, *jobs, job_seconds=60, noise_numbers=None, **attributes):
        """A worker at its work for the jobs of a batch."""
        batch = {"id": "the-batch", "sequence_builder": sequence(), "backend_configuration": None}
        stand_in = StandIn(batch, list(jobs))
        for name, value in attributes.items():
            setattr(stand_in, name, value)
        service = Service(stand_in.url, f"{stand_in.url}/token", "id", "secret")
        worker = Worker(service, "EMU_FREE", Model(specs, noise_numbers=noise_numbers), "worker-1", job_seconds, self.stopping)
        thread = threading.Thread(target=worker.work)
        with redirect_stdout(self.output):
            thread.start()
            try:
                yield stand_in
            finally:
                self.stopping.set()
                thread.join(20)
                stand_in.stop()
        self.assertFalse(thread.is_alive())

    def wait_until(self, condition):
        deadline = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.output.getvalue())
            time.sleep(0.02)

    def assert_done(self, stand_in, *names):
        for name in names:
            self.assertEqual(stand_in.reports[name]["status"], "DONE")
            self.assertEqual(sum(stand_in.results[name]["counter"].values()), 10)

    def test_announces_its_device_and_runs_the_jobs_of_a_batch_in_order(self):
        with self.working(job("first"), job("second", sequence(atoms=2)), job("third")) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        self.assertEqual(stand_in.announced["EMU_FREE"], {"status": "UP", "specs": specs})
        self.assertEqual(list(stand_in.reports), ["first", "second", "third"])
        self.assert_done(stand_in, "first", "second", "third")
        self.assertEqual(set(map(len, stand_in.results["second"]["counter"])), {2})
        self.assertLess(*(stand_in.reports["first"][f"{each}_timestamp"] for each in ("start", "end")))
        self.assertFalse(stand_in.released.is_set())

    def test_jobs_that_are_alike_are_measured_independently(self):
        alike = {"runs": 100_000, "variables": None, "sequence": sequence(atoms=5)}
        with self.working({"id": "first", **alike}, {"id": "second", **alike}) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        self.assertNotEqual(*(each["counter"] for each in stand_in.results.values()))

    def test_a_fault_of_the_user_ends_the_job_with_its_text_and_the_next_one_runs(self):
        with self.working(job("wrong", "{}"), job("right")) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        self.assertEqual(stand_in.reports["wrong"]["status"], "ERROR")
        [text] = stand_in.reports["wrong"]["errors"]
        self.assertIn("The sequence cannot be read", text)
        self.assertNotIn("wrong", stand_in.results)
        self.assert_done(stand_in, "right")

    def test_a_simulation_that_takes_too_long_is_an_error(self):
        # The short one needs some milliseconds, and more on a busy machine.
        with self.working(job("long", endless), job("short"), job_seconds=8) as stand_in:
            self.assertTrue(stand_in.finished.wait(60))
        self.assertEqual(stand_in.reports["long"]["status"], "ERROR")
        self.assertIn("longer than 8 s", stand_in.reports["long"]["errors"][0])
        self.assert_done(stand_in, "short")

    def test_results_come_with_the_report_in_one_call_of_a_job(self):
        with self.working(job("first"), job("second"), heartbeat_seconds=3600) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        under_lease = [each for each in stand_in.calls if "the-lease" in each or "upload" in each]
        self.assertEqual(under_lease, [f"POST /api/v1/leases/the-lease/jobs/{name}" for name in ("first", "second")])
        self.assert_done(stand_in, "first", "second")

    def test_larger_results_are_uploaded_by_a_link(self):
        # JSON of the worker's results in bytes, and one less.
        document = {"counter": {"0": 10}}
        for limit, ways in ((22, {"results_document": document}), (21, {"results": True})):
            self.assertEqual(len(json.dumps(document)), 22)
            with patch.object(worker_module, "MAX_REPORTED_BYTES", limit):
                calls = []
                worker = Worker(None, "EMU_FREE", Model(specs), "w", 60, self.stopping)
                worker._call = lambda lease, path, body: calls.append(path) or {"url": "the-url", "headers": {}}
                with patch.object(worker_module, "upload", lambda *sent: calls.append(sent)):
                    self.assertEqual(worker._hand_over("the-lease", "job", document), ways)
            by_link = ["jobs/job/results", ("the-url", {}, json.dumps(document).encode())]
            self.assertEqual(calls, by_link if "results" in ways else [])
        with patch.object(worker_module, "MAX_REPORTED_BYTES", 10), self.working(job("large")) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        self.assertTrue(stand_in.reports["large"]["results"])
        self.assertEqual(list(stand_in.uploads), ["large"])
        self.assert_done(stand_in, "large")

    def test_a_heartbeat_names_the_job_and_goes_out_20_s_after_the_last_call_that_counts_as_one(self):
        now, beats, waits = [100.0], [], []

        class Beaten:
            def call(self, method, path, body):
                beats.append((now[0], body["job_id"]))
                return Answer({"cancel": False}, 1.0)

        with patch.object(heartbeats_module.time, "monotonic", lambda: now[0]):
            heartbeats = Heartbeats(Beaten(), "the-lease", 20, "first")

            def wait(seconds):
                waits.append(seconds)
                # A report after 15 s brings the second job.
                if len(waits) == 1:
                    now[0] += 15
                    heartbeats.begin("second")
                    seconds -= 15
                now[0] += seconds
                return len(waits) == 5

            heartbeats._ended = SimpleNamespace(wait=wait)
            heartbeats._beat()
        self.assertEqual(beats, [(135, "second"), (155, "second"), (175, "second")])
        self.assertEqual(waits, [20, 15, 20, 20, 20])

    def test_a_calibration_is_reported_once_before_the_first_claim_and_is_the_noise_of_the_jobs(self):
        # Nothing is excited, and every 0 is read as a 1.
        still = job("still", sequence(amplitude=0))
        with self.working(still, job("second"), noise_numbers={"p_false_pos": 1.0}) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
            claims = stand_in.calls.count("POST /api/v1/devices/EMU_FREE/claim")
            self.wait_until(lambda: stand_in.calls.count("POST /api/v1/devices/EMU_FREE/claim") > claims)
        self.assertEqual(stand_in.calibrations, [{"numbers": {"p_false_pos": 1.0}}])
        first = "POST /api/v1/devices/EMU_FREE/claim"
        self.assertLess(stand_in.calls.index("POST /api/v1/devices/EMU_FREE/calibrations"), stand_in.calls.index(first))
        self.assertEqual(stand_in.results["still"]["counter"], {"1": 10})

    def test_a_canceled_job_is_ended_and_the_next_one_runs(self):
        with self.working(job("canceled", endless), job("after")) as stand_in:
            self.wait_until(lambda: "POST /api/v1/leases/the-lease/heartbeat" in stand_in.calls)
            stand_in.canceled.add("canceled")
            self.assertTrue(stand_in.finished.wait(30))
        self.assertEqual(list(stand_in.reports), ["after"])

    def test_a_job_that_was_canceled_before_its_report_is_passed_over(self):
        # No heartbeat gets through, so none can report that the job was canceled.
        unheard = {"canceled": {"canceled"}, "heartbeat_seconds": 30, "failures": {"heartbeat": [500] * 4}}
        with self.working(job("canceled"), job("after"), **unheard) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        self.assertEqual(list(stand_in.reports), ["after"])

    def test_a_lost_lease_ends_the_simulation_and_the_worker_claims_again(self):
        with self.working(job("lost", endless)) as stand_in:
            self.wait_until(lambda: stand_in.running is not None)
            stand_in.lease_lost = True
            claims = stand_in.calls.count("POST /api/v1/devices/EMU_FREE/claim")
            self.wait_until(lambda: stand_in.calls.count("POST /api/v1/devices/EMU_FREE/claim") > claims)
        self.assertEqual(stand_in.reports, {})
        self.assertFalse(stand_in.released.is_set())

    def test_a_worker_that_is_stopped_releases_its_batch(self):
        with self.working(job("long", endless)) as stand_in:
            self.wait_until(lambda: stand_in.running is not None)
            self.stopping.set()
            self.assertTrue(stand_in.released.wait(20))
        self.assertEqual(stand_in.reports, {})

    def test_an_open_batch_is_waited_for_and_released(self):
        with self.working(job("first"), open=True) as stand_in:
            self.wait_until(lambda: stand_in.calls.count("POST /api/v1/leases/the-lease/next") > 2)
            stand_in.waiting.append(job("late"))
            self.wait_until(lambda: "late" in stand_in.reports)
            self.stopping.set()
            self.assertTrue(stand_in.released.wait(20))
        self.assert_done(stand_in, "first", "late")

    def test_calls_are_repeated_after_what_the_service_could_not_help(self):
        failures = {name: [500, None, 429] for name in ("token", "EMU_FREE", "claim", "only", "results")}
        with patch.object(worker_module, "MAX_REPORTED_BYTES", 10), self.working(job("only"), failures={**failures, "only": [503, None, 500]}) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        self.assertGreater(len(stand_in.calls), 15)
        self.assert_done(stand_in, "only")

    def test_a_refused_token_is_replaced_and_a_good_one_is_kept(self):
        with self.working(job("first"), job("second"), failures={"first": [401]}) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        self.assertEqual(stand_in.tokens, 2)
        self.assert_done(stand_in, "first", "second")

    def test_a_token_is_replaced_before_it_expires(self):
        with self.working(job("first"), token_seconds=60) as stand_in:
            self.assertTrue(stand_in.finished.wait(30))
        self.assertGreater(stand_in.tokens, 2)

    def test_a_worker_without_the_scope_says_so(self):
        stand_in = StandIn({}, [])
        stand_in.failures = {"EMU_FREE": [403]}
        worker = Worker(
            Service(stand_in.url, f"{stand_in.url}/token", "id", "secret"), "EMU_FREE", Model(specs), "w", 60, self.stopping
        )
        with self.assertRaisesRegex(Refusal, "403: as the test wants it"):
            worker.work()
        stand_in.stop()

    def test_pauses_double_up_to_20_s_while_the_queue_stays_empty(self):
        answers = [None, None, None, None, None, {"lease": "the-lease"}, None, None]
        pauses, stopping = [], self.stopping

        class Stopping:
            is_set = stopping.is_set

            def wait(self, seconds):
                pauses.append(seconds)

        class Empty:
            def call(self, method, path, body):
                if path.endswith("/claim") and len(answers) == 1:
                    stopping.set()
                return Answer(answers.pop(0) if path.endswith("/claim") else {}, 3.0)

        worker = Worker(Empty(), "EMU_FREE", Model(specs), "w", 60, Stopping())
        worker._run_batch = lambda claim: None
        with redirect_stdout(self.output):
            worker.work()
        self.assertEqual(pauses, [3, 6, 12, 20, 20, 3, 6])

    def test_after_an_outage_the_device_is_announced_again(self):
        original, worker_module.RETRY_SECONDS = worker_module.RETRY_SECONDS, 0
        try:
            with self.working(failures={"claim": [500] * 4}) as stand_in:
                self.wait_until(lambda: stand_in.calls.count("PUT /api/v1/devices/EMU_FREE") == 2)
        finally:
            worker_module.RETRY_SECONDS = original

    def test_a_simulation_that_dies_reports_nothing_and_leaves_the_lease_to_run_out(self):
        with self.working(job("doomed", endless)) as stand_in:
            self.wait_until(multiprocessing.active_children)
            for simulation in multiprocessing.active_children():
                simulation.kill()
            self.wait_until(lambda: "gives up" in self.output.getvalue())
            # It shows that it had the lease: so it counts as a lost worker.
            self.assertIn(None, stand_in.beats)
            beats = len(stand_in.beats)
            time.sleep(0.5)
            self.assertLessEqual(len(stand_in.beats), beats + 1)
        self.assertEqual(stand_in.reports, {})
        self.assertFalse(stand_in.released.is_set())


if __name__ == "__main__":
    unittest.main()
