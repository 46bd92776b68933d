"""What simulates the jobs of a device type: QuTiP, or a package of its own where that was asked for."""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import numpy

# What all of them take of a batch's backend_configuration.
SHARED_MEMBERS = {
    "default_evaluation_times",
    "default_num_shots",
    "initial_state",
    "interaction_matrix",
    "n_trajectories",
    "noise_model",
    "observables",
    "prefer_device_noise_model",
    "with_modulation",
}
# Both packages use a GPU where there is one, and print a line for each step.
ON_CPU = {"gpu": False, "log_level": 30}


class Simulator(NamedTuple):
    """A backend of Pulser's interface, in a package that is imported when it is first used."""

    device_type: str | None
    """The one it is for; None: any."""
    package: str
    backend_name: str
    members: set[str]
    """What it takes of a backend_configuration besides. Others are passed over: some name files, or graphics cards."""
    fixed: dict
    """What it is configured with in any case."""
    max_atoms: int
    max_memory_bytes: int

    @property
    def backend(self):
        return getattr(import_module(self.package), self.backend_name)

    def is_installed(self) -> bool:
        return find_spec(self.package) is not None


QUTIP = Simulator(None, "pulser_simulation", "QutipBackendV2", {"sampling_rate", "solver"}, {}, 12, 4 * 1024**3)

# By the names that `--with` takes.
OPTIONAL = {
    "emu-mps": Simulator(
        "EMU_MPS",
        "emu_mps",
        "MPSBackend",
        {
            "dt",
            "extra_krylov_tolerance",
            "interaction_cutoff",
            "max_bond_dim",
            "max_krylov_dim",
            "optimize_qubit_ordering",
            "precision",
            "solver",
        },
        ON_CPU,
        80,
        12 * 1024**3,
    ),
    "emu-sv": Simulator(
        "EMU_SV",
        "emu_sv",
        "SVBackend",
        {"dt", "interaction_cutoff", "krylov_tolerance", "max_krylov_dim", "solver"},
        ON_CPU,
        25,
        12 * 1024**3,
    ),
}


def draw_new_seeds() -> None:
    """A forked process goes on with the random numbers of the one before: each job would get the same."""
    numpy.random.seed()
    if torch := sys.modules.get("torch"):
        torch.seed()
