"""The simulating half of the emulator: a document in, results out."""

import json
import math
import sys
import unittest
from pathlib import Path
from unittest.mock import patch

import numpy
from pulser import MockDevice, NoiseModel, Pulse, Register, Register3D, Sequence
from pulser.backend import BitStrings, EmulationConfig, Energy, Occupation, Results
from pulser.json.abstract_repr.deserializer import deserialize_device
from pulser_simulation import QutipBackendV2, QutipConfig
from scipy.stats import chi2_contingency

local = Path(__file__).parents[2] / "infra" / "local"
sys.path.insert(0, str(local / "emulator"))
from simulation import InputFault, simulate  # noqa: E402
from simulators import QUTIP  # noqa: E402

specs = json.loads((local / "demo" / "device-specs.json").read_text())
FRESNEL = deserialize_device(specs["FRESNEL"])
layout = FRESNEL.pre_calibrated_layouts[0]


def sequence(register=None, device=MockDevice, measured=True, channel="rydberg_global", pulse=(400, 2.0)):
    register = register or Register.from_coordinates([(0, 0), (0, 6), (6, 0)], prefix="q")
    new = Sequence(register, device)
    new.declare_channel("global", channel)
    new.add(Pulse.ConstantPulse(*pulse, 0, 0), "global")
    if measured:
        new.measure()
    return new


def run(submitted, config=None, device_type="EMU_FREE", own=None, simulator=QUTIP, noise_numbers=None, **job):
    """The results document of a job, `submitted` with the batch or, as `own`, with the job."""
    as_text = {
        name: each and (each if isinstance(each, str) else each.to_abstract_repr())
        for name, each in {"batch": submitted, "job": own, "config": config}.items()
    }
    batch = {"id": "b", "sequence_builder": as_text["batch"], "backend_configuration": as_text["config"]}
    job = {"id": "j", "sequence": as_text["job"], "variables": None, "runs": None, **job}
    return simulate(batch, job, specs[device_type], simulator, noise_numbers)


def observing(*observables, **options):
    return EmulationConfig(observables=observables, **options)


def read(document):
    """What Pulser reads back."""
    return Results.from_abstract_repr(document["serialised_results"])


def occupations(counter):
    total = sum(counter.values())
    return [
        sum(count for bits, count in counter.items() if bits[atom] == "1") / total for atom in range(len(min(counter)))
    ]


class Documents(unittest.TestCase):
    def test_a_qpu_answers_with_counts_alone(self):
        document = run(sequence(layout.define_register(22, 25, 34), FRESNEL), device_type="FRESNEL", runs=30)
        self.assertEqual(list(document), ["counter"])
        self.assertEqual(sum(document["counter"].values()), 30)

    def test_an_emulator_also_answers_with_what_pulser_reads_back(self):
        document = json.loads(json.dumps(run(sequence(), runs=30)))
        self.assertEqual(read(document).final_bitstrings, document["counter"])
        self.assertEqual(read(document).atom_order, ("q0", "q1", "q2"))

    def test_the_number_of_shots_is_the_jobs_then_the_configurations_then_100(self):
        config = observing(BitStrings(), default_num_shots=40)
        for runs, given, shots in [(7, config, 7), (None, config, 40), (7, None, 7), (None, None, 100)]:
            with self.subTest(runs=runs, configured=given is not None):
                self.assertEqual(sum(run(sequence(), given, runs=runs)["counter"].values()), shots)

    def test_an_observable_has_its_own_number_of_shots(self):
        document = run(sequence(), observing(BitStrings(num_shots=13)), runs=7)
        self.assertEqual(sum(document["counter"].values()), 13)


class Sequences(unittest.TestCase):
    def test_a_sequence_without_a_measurement_is_measured(self):
        self.assertTrue(run(sequence(measured=False))["counter"])

    def test_a_jobs_own_sequence_goes_before_the_batchs(self):
        own = sequence(Register.square(2, 6, prefix="a"))
        self.assertEqual(read(run(sequence(), own=own)).atom_order, ("a0", "a1", "a2", "a3"))

    def test_variables(self):
        parametrized = sequence(Register.from_coordinates([(0, 0)]), measured=False)
        duration = parametrized.declare_variable("duration", dtype=int)
        angles = parametrized.declare_variable("angles", size=2)
        parametrized.add(Pulse.ConstantPulse(duration, angles[1] / duration * 1000, 0, 0), "global")
        # 0.8 rad from the first pulse: the second one completes a rotation by pi.
        document = run(parametrized, runs=50, variables={"duration": 1000, "angles": [0, math.pi - 0.8]})
        self.assertEqual(document["counter"], {"1": 50})

    def test_a_mappable_register(self):
        mappable = sequence(layout.make_mappable_register(5), FRESNEL)
        document = run(mappable, runs=20, variables={"qubits": {"q0": 3, "q1": 44}})
        self.assertEqual({len(bits) for bits in document["counter"]}, {2})
        self.assertEqual(read(document).atom_order, ("q0", "q1"))

    def test_variables_and_a_mappable_register_on_the_qpu(self):
        both = sequence(layout.make_mappable_register(5), FRESNEL, measured=False)
        amplitude = both.declare_variable("amplitude")
        both.add(Pulse.ConstantPulse(400, amplitude, 0, 0), "global")
        values = {"amplitude": [1.5], "qubits": {"q0": 3, "q1": 44}}
        self.assertTrue(run(both, runs=20, variables=values, device_type="FRESNEL")["counter"])

    def test_other_bases(self):
        for channel in ("raman_global", "mw_global"):
            with self.subTest(channel):
                self.assertEqual(sum(run(sequence(channel=channel, measured=False), runs=20)["counter"].values()), 20)

    def test_atoms_of_three_levels_are_measured_in_the_basis_that_the_sequence_says(self):
        for basis, one in [("ground-rydberg", 0.0), ("digital", 1.0)]:
            with self.subTest(basis):
                both = Sequence(Register.from_coordinates([(0, 0)]), MockDevice)
                both.declare_channel("rydberg", "rydberg_global")
                both.declare_channel("raman", "raman_global")
                both.add(Pulse.ConstantPulse(1000, math.pi, 0, 0), "raman")
                both.add(Pulse.ConstantPulse(1000, math.pi, 0, 0), "rydberg")
                both.measure(basis)
                self.assertEqual(occupations(run(both)["counter"]), [one])

    def test_three_dimensions(self):
        register = Register3D.cubic(2, spacing=7, prefix="q")
        self.assertEqual({len(bits) for bits in run(sequence(register))["counter"]}, {8})

    def test_a_detuning_map_keeps_an_atom_in_its_ground_state(self):
        register = Register.from_coordinates([(0, 0), (0, 40)], prefix="q")
        detuned = Sequence(register, MockDevice)
        detuned.config_detuning_map(register.define_detuning_map({"q0": 1.0}), "dmm_0")
        detuned.declare_channel("global", "rydberg_global")
        detuned.add_dmm_detuning(Pulse.ConstantPulse(1000, 0, -100, 0).detuning, "dmm_0")
        detuned.add(Pulse.ConstantPulse(1000, math.pi, 0, 0), "global", protocol="no-delay")
        first, second = occupations(run(detuned, runs=1000)["counter"])
        self.assertLess(first, 0.02)
        self.assertGreater(second, 0.98)

    def test_the_qpu_takes_a_sequence_for_the_same_device_under_another_name(self):
        from pulser import AnalogDevice

        other = sequence(layout.define_register(22, 25, 34), AnalogDevice)
        self.assertTrue(run(other, device_type="FRESNEL")["counter"])


class Configurations(unittest.TestCase):
    def test_observables_at_several_times(self):
        config = observing(BitStrings(evaluation_times=(0.5, 1.0)), Occupation(), Energy(evaluation_times=(0.25,)))
        results = read(run(sequence(), config, runs=50))
        self.assertEqual(results.get_result_times("bitstrings"), [0.5, 1.0])
        self.assertEqual([sum(each.values()) for each in results.bitstrings], [50, 50])
        self.assertEqual(len(results.get_result("occupation", 1.0)), 3)
        self.assertEqual(results.get_result_times("energy"), [0.25])

    def test_the_counter_holds_the_end_even_if_no_observable_asks_for_it(self):
        for config in (observing(Occupation()), observing(BitStrings(evaluation_times=(0.5,)))):
            document = run(sequence(), config, runs=50)
            self.assertEqual(sum(document["counter"].values()), 50)
            self.assertLessEqual({each.tag for each in config.observables}, set(read(document).get_result_tags()))

    def test_an_observable_says_which_state_reads_as_1(self):
        still = sequence(Register.from_coordinates([(0, 0)], prefix="q"), pulse=(400, 0.0))
        self.assertEqual(run(still, observing(BitStrings(one_state="g")), runs=5)["counter"], {"1": 5})

    def test_members_for_other_emulators_are_passed_over(self):
        config = observing(BitStrings(), num_gpus_to_use=1, autosave_dt=math.inf, optimize_qubit_ordering=True)
        self.assertTrue(run(sequence(), config, device_type="EMU_MPS")["counter"])
        self.assertTrue(run(sequence(), "{}")["counter"])

    def test_noise_is_simulated(self):
        # Nothing is excited, and every fourth 0 is read as a 1.
        noise = NoiseModel(p_false_pos=0.25)
        still = sequence(Register.from_coordinates([(0, 0)]), pulse=(400, 0.0))
        [share] = occupations(run(still, observing(BitStrings(), noise_model=noise), runs=10_000)["counter"])
        self.assertAlmostEqual(share, 0.25, delta=6 * math.sqrt(0.25 * 0.75 / 10_000))

    def test_noise_that_needs_several_trajectories(self):
        noise = NoiseModel(temperature=50, amp_sigma=0.05, dephasing_rate=0.1)
        document = run(sequence(), observing(BitStrings(), Occupation(), noise_model=noise, n_trajectories=3), runs=10)
        self.assertEqual(sum(document["counter"].values()), 30)

    def test_the_qpu_knows_no_configuration(self):
        plain = sequence(layout.define_register(22, 25, 34), FRESNEL)
        self.assertEqual(sum(run(plain, "nonsense", device_type="FRESNEL")["counter"].values()), 100)


class Calibrations(unittest.TestCase):
    """The numbers of a calibration, as the noise of a simulation."""

    steady = {"p_false_pos": 0.03, "p_false_neg": 0.08, "relaxation_rate": 0.5, "dephasing_rate": 0.3}
    numbers = {**steady, "state_prep_error": 0.02, "temperature": 40.0, "amp_sigma": 0.05, "laser_waist": 150.0}
    shots = 20_000

    def by_hand(self, numbers, shots=shots):
        observables = [BitStrings(one_state="r", num_shots=shots)]
        config = QutipConfig(observables=observables, noise_model=NoiseModel(**numbers))
        return QutipBackendV2(sequence(), config=config).run().final_bitstrings

    def agreement(self, one, other):
        """How likely equal distributions differ at least as much: below 1e-7 once in ten million runs."""
        bits = sorted(one | other)
        return chi2_contingency([[counter.get(each, 0) for each in bits] for counter in (one, other)]).pvalue

    def test_a_noise_model_that_is_sent_gives_the_very_counts_of_pulsers_emulator(self):
        # Without trajectories: Pulser draws other ones in each run, even with the same seed.
        config = observing(BitStrings(), noise_model=NoiseModel(**self.steady))
        numpy.random.seed(1)
        expected = self.by_hand(self.steady)
        numpy.random.seed(1)
        self.assertEqual(run(sequence(), config, runs=self.shots)["counter"], expected)

    def test_a_calibration_is_the_noise_of_a_job_that_brings_none(self):
        expected, pure = self.by_hand(self.steady), self.by_hand({})
        for config in (None, observing(BitStrings())):
            counter = run(sequence(), config, runs=self.shots, noise_numbers=self.steady)["counter"]
            self.assertGreater(self.agreement(counter, expected), 1e-7)
            self.assertLess(self.agreement(counter, pure), 1e-9)

    def test_the_noise_of_a_job_goes_before_that_of_a_calibration(self):
        own = observing(BitStrings(), noise_model=NoiseModel(**self.steady))
        counter = run(sequence(), own, runs=self.shots, noise_numbers={"p_false_pos": 0.5})["counter"]
        self.assertGreater(self.agreement(counter, self.by_hand(self.steady)), 1e-7)

    def test_a_qpu_with_a_calibration_answers_with_as_many_shots_as_the_job_has_runs(self):
        three = sequence(layout.define_register(22, 25, 34), FRESNEL)
        counter = run(three, device_type="FRESNEL", runs=50, noise_numbers=self.numbers)["counter"]
        self.assertEqual(sum(counter.values()), 50)


def replace_in(text, *path, by):
    """The document with another value at `path`."""
    whole = part = json.loads(text)
    *parents, last = path
    for each in parents:
        part = part[each]
    part[last] = by
    return json.dumps(whole)


class Faults(unittest.TestCase):
    """What the user did wrong comes back as a text that says where."""

    def assert_fault(self, pattern, *args, **options):
        with self.assertRaisesRegex(InputFault, pattern) as raised:
            run(*args, **options)
        self.assertNotRegex(str(raised.exception), r"Traceback|\n")
        self.assertLess(len(str(raised.exception)), 1000)

    def test_a_sequence_that_is_none(self):
        plain = sequence().to_abstract_repr()
        self.assert_fault(r"cannot be read: \$: 'channels' is a required property", "{}")
        self.assert_fault(
            r"\$\.operations\[0\]\.op: 'sing' is not valid", replace_in(plain, "operations", 0, "op", by="sing")
        )
        amplitude = ("operations", 0, "amplitude", "value")
        self.assert_fault(r"amplitude\.value: 'x' is not of type 'number'", replace_in(plain, *amplitude, by="x"))
        self.assert_fault("greater than or equal to zero", replace_in(plain, *amplitude, by=-1))
        self.assert_fault("No channel foo", replace_in(plain, "channels", "global", by="foo"))
        self.assert_fault(r"\$\.device", replace_in(plain, "device", by={"name": "x"}))
        self.assert_fault("No instructions", replace_in(plain, "operations", by=[]))
        newer = replace_in(replace_in(plain, "operations", 0, "op", by="sing"), "pulser_version", by="7.0.0")
        self.assert_fault("more recent version of pulser", newer)

    def test_variables_that_do_not_fit(self):
        parametrized = sequence(measured=False)
        parametrized.add(Pulse.ConstantPulse(400, parametrized.declare_variable("amplitude"), 0, 0), "global")
        self.assert_fault("Did not receive values for variables: amplitude", parametrized)
        self.assert_fault("could not convert", parametrized, variables={"amplitude": "x"})
        self.assert_fault("greater than or equal to zero", parametrized, variables={"amplitude": -1})
        mappable = sequence(layout.make_mappable_register(5), FRESNEL)
        self.assert_fault("'qubits' must be specified", mappable)
        self.assert_fault("built with the job's variables", mappable, variables={"qubits": {"q0": 1000}})

    def test_too_many_atoms(self):
        register = Register.rectangle(1, 13, spacing=6, prefix="q")
        self.assert_fault("13 atoms: this emulator simulates at most 12. EMU_MPS takes more", sequence(register))

    def test_too_many_shots(self):
        self.assert_fault("10000000 shots: this emulator takes at most 1000000", sequence(), runs=10_000_000)
        config = observing(BitStrings(num_shots=2_000_000))
        self.assert_fault("2000000 shots", sequence(), config)

    def test_two_bases_and_no_measurement(self):
        both = sequence(measured=False)
        both.declare_channel("raman", "raman_global")
        both.add(Pulse.ConstantPulse(100, 1, 0, 0), "raman")
        self.assert_fault(r"addresses 2 bases: end it with measure\(\)", both)

    def test_what_the_qpu_cannot_do(self):
        self.assert_fault("cannot run on FRESNEL: .*Rydberg level", sequence(), device_type="FRESNEL")
        without_layout = sequence(Register.square(2, 6, prefix="q"), FRESNEL)
        self.assert_fault("requires the sequence's register .* `RegisterLayout`", without_layout, device_type="FRESNEL")
        plain = sequence(layout.define_register(22, 25, 34), FRESNEL)
        self.assert_fault("2001 runs: FRESNEL takes at most 2000", plain, device_type="FRESNEL", runs=2001)

    def test_a_configuration_that_is_none(self):
        self.assert_fault("backend_configuration cannot be read", sequence(), "nonsense")
        self.assert_fault("is not a JSON object", sequence(), "[]")
        self.assert_fault("backend_configuration cannot be read", sequence(), '{"observables": [{"observable": "x"}]}')
        matrix = observing(BitStrings(), interaction_matrix=[[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        self.assert_fault("does not handle custom interaction matrices", sequence(), matrix)

    def test_a_claim_without_a_sequence_is_not_the_users_fault(self):
        with self.assertRaises(LookupError):
            run(None)

    def test_what_only_the_machine_lacks_is_not_the_users_fault(self):
        class Full(QutipBackendV2):
            def __init__(self, *_, **__):
                raise OSError("no space left")

        with patch("pulser_simulation.QutipBackendV2", Full), self.assertRaises(OSError):
            run(sequence())


class Physics(unittest.TestCase):
    """Two atoms in blockade, against the exact evolution of their four states."""

    distance = 6.0
    shots = 100_000

    def exact(self, amplitude, duration):
        """The probabilities of 00, 01, 10 and 11 after `duration` ns at `amplitude` rad/µs, from the Hamiltonian."""
        blockade = MockDevice.interaction_coeff / self.distance**6
        flip = numpy.array([[0, 1], [1, 0]])
        one = numpy.eye(2)
        hamiltonian = amplitude / 2 * (numpy.kron(flip, one) + numpy.kron(one, flip)) + numpy.diag([0, 0, 0, blockade])
        energies, states = numpy.linalg.eigh(hamiltonian)
        amplitudes = states @ (numpy.exp(-1j * energies * duration / 1000) * states.T[:, 0])
        return dict(zip(["00", "01", "10", "11"], abs(amplitudes) ** 2))

    def measure(self, amplitude, duration):
        register = Register.from_coordinates([(0, 0), (0, self.distance)], prefix="q")
        counter = run(sequence(register, pulse=(duration, amplitude)), runs=self.shots)["counter"]
        expected = self.exact(amplitude, duration)
        self.assertLessEqual(set(counter), set(expected))
        for bits, probability in expected.items():
            # Six standard deviations: one false alarm in hundreds of millions. Pulser's own step is
            # 1 ns.
            error = 6 * math.sqrt(probability * (1 - probability) / self.shots) + 2e-3
            self.assertAlmostEqual(counter.get(bits, 0) / self.shots, probability, delta=error, msg=bits)
        return counter

    def test_a_pi_pulse_of_the_pair_excites_one_atom_of_two(self):
        # The blockaded pair turns faster than one atom, by the root of two.
        counter = self.measure(amplitude=math.pi / math.sqrt(2), duration=1000)
        self.assertGreater(counter["01"] + counter["10"], 0.99 * self.shots)

    def test_a_pi_pulse_of_one_atom_turns_the_pair_further(self):
        counter = self.measure(amplitude=math.pi, duration=1000)
        self.assertAlmostEqual(counter["00"] / self.shots, math.cos(math.pi / math.sqrt(2)) ** 2, delta=0.02)


if __name__ == "__main__":
    unittest.main()
