"""emu-mps and emu-sv behind EMU_MPS and EMU_SV: runs where they are installed (docs/guides/testing.md)."""

import json
import math
import os
import sys
import tempfile
import unittest
from pathlib import Path

from pulser import MockDevice, NoiseModel, Pulse, Register, Sequence
from pulser.backend import BitStrings, CorrelationMatrix, EmulationConfig, Energy, Occupation, Results
from pulser_simulation import QutipBackendV2, QutipConfig
from scipy.stats import chi2_contingency

sys.path.insert(0, str(Path(__file__).parents[2] / "infra/local/emulator"))
from emulator import SPECS, specify  # noqa: E402
from simulation import InputFault, simulate  # noqa: E402
from simulators import OPTIONAL  # noqa: E402

MPS, SV = OPTIONAL["emu-mps"], OPTIONAL["emu-sv"]
# As the emulator does: threads would wait for each other where the machine has others to do.
os.environ.setdefault("OMP_NUM_THREADS", "1")
are_installed = MPS.is_installed() and SV.is_installed()
if are_installed:
    import torch
    from emu_mps import MPSBackend, MPSConfig
    from emu_sv import SVBackend, SVConfig


def sequence(rows=2, columns=2, duration=200):
    new = Sequence(Register.rectangle(rows, columns, spacing=6, prefix="q"), MockDevice)
    new.declare_channel("global", "rydberg_global")
    new.add(Pulse.ConstantPulse(duration, 2 * math.pi, 0, 0), "global")
    new.measure()
    return new


def run(simulator, submitted, config=None, runs=None):
    text = config if config is None or isinstance(config, str) else config.to_abstract_repr()
    batch = {"sequence_builder": submitted.to_abstract_repr(), "backend_configuration": text}
    job = {"sequence": None, "variables": None, "runs": runs}
    return simulate(batch, job, SPECS[simulator.device_type], simulator)


def read(document):
    return Results.from_abstract_repr(document["serialised_results"])


@unittest.skipUnless(are_installed, "emu-mps and emu-sv are not installed")
class Packages(unittest.TestCase):
    def by_hand(self, simulator, submitted, observables, **options):
        backend, kind = (MPSBackend, MPSConfig) if simulator is MPS else (SVBackend, SVConfig)
        return backend(submitted, config=kind(observables=observables, gpu=False, log_level=30, **options)).run()

    def test_the_same_counts_and_observables_as_by_hand_with_the_same_seed(self):
        options = {"emu-mps": {"dt": 20.0, "max_bond_dim": 2, "precision": 1e-4}, "emu-sv": {"dt": 20.0}}
        for name, own in options.items():
            with self.subTest(name):
                observables = [BitStrings(num_shots=300), Occupation(evaluation_times=(0.5, 1.0)), Energy()]
                torch.manual_seed(3)
                expected = self.by_hand(OPTIONAL[name], sequence(), observables, **own)
                torch.manual_seed(3)
                document = run(OPTIONAL[name], sequence(), EmulationConfig(observables=observables, **own))
                self.assertEqual(document["counter"], dict(expected.final_bitstrings))
                self.assertEqual(read(document).final_bitstrings, document["counter"])
                for one, other in zip(read(document).occupation, expected.occupation, strict=True):
                    for found, wanted in zip(one, other.tolist(), strict=True):
                        self.assertAlmostEqual(found, wanted, places=9)
                self.assertAlmostEqual(read(document).energy[-1], float(expected.energy[-1]), places=6)

    def test_what_is_configured_counts(self):
        # A chain that is entangled: a bond dimension of 1 cannot hold it.
        chain, observables = sequence(1, 6, 600), [BitStrings(num_shots=10), CorrelationMatrix()]
        at_most = {
            bond: EmulationConfig(observables=observables, max_bond_dim=bond, precision=1e-8) for bond in (1, 64)
        }
        narrow, wide = (read(run(MPS, chain, each)) for each in at_most.values())
        self.assertGreater(abs(narrow.correlation_matrix[-1][0][1] - wide.correlation_matrix[-1][0][1]), 1e-3)

    def test_what_the_client_sends_by_default(self):
        config = EmulationConfig(
            observables=[BitStrings()], num_gpus_to_use=1, autosave_dt=math.inf, optimize_qubit_ordering=True
        )
        self.assertEqual(sum(run(MPS, sequence(), config, runs=20)["counter"].values()), 20)
        self.assertEqual(sum(run(MPS, sequence(), runs=20)["counter"].values()), 20)

    def test_members_that_name_files_are_passed_over(self):
        marker = Path(self.enterContext(tempfile.TemporaryDirectory())) / "log"
        config = json.loads(EmulationConfig(observables=[BitStrings()]).to_abstract_repr())
        for simulator in (MPS, SV):
            run(simulator, sequence(), json.dumps({**config, "log_file": str(marker), "autosave_prefix": str(marker)}))
        self.assertFalse(marker.exists())

    def test_both_agree_with_qutip_with_noise_and_without(self):
        for numbers in ({}, {"p_false_pos": 0.03, "p_false_neg": 0.08}):
            noise = NoiseModel(**numbers)
            observables, shots = [BitStrings(num_shots=20_000, one_state="r")], 20_000
            config = QutipConfig(observables=observables, noise_model=noise)
            expected = QutipBackendV2(sequence(1, 3), config=config).run().final_bitstrings
            for simulator in (MPS, SV):
                sent = EmulationConfig(observables=observables, noise_model=noise, dt=2.0, precision=1e-8)
                counter = run(simulator, sequence(1, 3), sent)["counter"]
                self.assertEqual(sum(counter.values()), shots)
                bits = [each for each in sorted(expected | counter) if expected[each] + counter.get(each, 0) > 10]
                table = [[each.get(one, 0) for one in bits] for each in (expected, counter)]
                with self.subTest(simulator.package, noise=bool(numbers)):
                    self.assertGreater(chi2_contingency(table).pvalue, 1e-7)

    def test_twenty_atoms(self):
        counter = run(MPS, sequence(1, 20, 100), runs=50)["counter"]
        self.assertEqual((sum(counter.values()), {len(bits) for bits in counter}), (50, {20}))

    def test_faults(self):
        for simulator, fault in [
            (MPS, "81 atoms: this emulator simulates at most 80.$"),
            (SV, "26 atoms: this emulator simulates at most 25.$"),
        ]:
            with self.subTest(simulator.package), self.assertRaisesRegex(InputFault, fault):
                run(simulator, sequence(1, simulator.max_atoms + 1))
        with self.assertRaisesRegex(InputFault, "designed for more than 2 qubits. Consider using the emu_sv"):
            run(MPS, sequence(1, 1))
        wrong = EmulationConfig(observables=[BitStrings()], precision="much")
        with self.assertRaisesRegex(InputFault, "cannot be"):
            run(MPS, sequence(), wrong)

    def test_the_device_is_announced_with_the_atoms_that_it_takes(self):
        self.assertEqual(json.loads(specify("EMU_MPS", MPS))["max_atom_num"], 80)


if __name__ == "__main__":
    unittest.main()
