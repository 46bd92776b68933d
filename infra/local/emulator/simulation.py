"""Simulates one job, by Pulser: documents in, the results document out. Knows nothing of the service."""

import json
import random
from collections import Counter
from contextlib import contextmanager

from jsonschema import ValidationError
from pulser import NoiseModel, Sequence
from pulser.backend import Backend, BitStrings, EmulationConfig
from pulser.devices import Device
from pulser.json.abstract_repr.deserializer import deserialize_device
from simulators import QUTIP, SHARED_MEMBERS, Simulator

MAX_SHOTS = 1_000_000
DEFAULT_SHOTS = 100
# As many as Pulser takes for the noise model of a device.
TRAJECTORIES = 40
MORE_ATOMS = "EMU_MPS takes more where the emulator runs it by emu-mps (--with emu-mps)."

# The state that reads as 1 in each measurement basis. QuTiP cannot infer it where atoms have three
# levels.
ONE_STATES = {"ground-rydberg": "r", "digital": "h", "XY": "d"}


class InputFault(Exception):
    """The job cannot run, however often it is tried: its text is for the user."""


def simulate(
    batch: dict, job: dict, specs: str, simulator: Simulator = QUTIP, noise_numbers: dict | None = None
) -> dict:
    """The results document of a job, as a claim describes it, on the device that `specs` specifies.

    The stand-in for a QPU takes what the QPU would take, and answers with a `counter` alone. Emulators also answer with
    `serialised_results`, the text that Pulser reads back. A job that brings no noise gets a NoiseModel of
    `noise_numbers`. Raises InputFault.
    """
    device = deserialize_device(specs)
    is_qpu = isinstance(device, Device)
    text = job["sequence"] or batch["sequence_builder"]
    if text is None:
        # A claim leaves the batch's sequence out where both do not fit. The next claim of the batch
        # will have it.
        raise LookupError("The claim holds no sequence for this job.")
    sequence = read_sequence(text, job["variables"])
    atoms = len(sequence.register.qubit_ids)
    if atoms > simulator.max_atoms:
        text = f"The register has {atoms} atoms: this emulator simulates at most {simulator.max_atoms}."
        raise InputFault(text if simulator != QUTIP else f"{text} {MORE_ATOMS}")
    if is_qpu:
        sequence = adapt_to_qpu(sequence, device, job["runs"])
    text = None if is_qpu else batch["backend_configuration"]
    config, counted = read_config(text, job["runs"], sequence, simulator)
    if noise_numbers and not config.noise_model.noise_types:
        config = config.with_changes(noise_model=NoiseModel(**noise_numbers), n_trajectories=TRAJECTORIES)
    with blame_input("The sequence cannot be simulated"):
        results = simulator.backend(sequence, config=config).run()
        counter = results.get_result(counted.tag, 1.0)
        if is_qpu:
            return {"counter": draw(counter, config.default_num_shots)}
        return {"counter": counter, "serialised_results": results.to_abstract_repr()}


def draw(counter: dict[str, int], shots: int) -> dict[str, int]:
    """So many of the shots that all trajectories gave together."""
    if sum(counter.values()) == shots:
        return counter
    return dict(Counter(random.sample(list(counter), shots, counts=list(counter.values()))))


def read_sequence(text: str, variables: dict | None) -> Sequence:
    """The sequence, built with the job's variables and measured."""
    with blame_input("The sequence cannot be read"):
        sequence = Sequence.from_abstract_repr(text)
    if sequence.is_parametrized() or sequence.is_register_mappable():
        with blame_input("The sequence cannot be built with the job's variables"):
            sequence = sequence.build(**(variables or {}))
    if not sequence.is_measured():
        bases = sequence.get_addressed_bases()
        if len(bases) != 1:
            raise InputFault(f"The sequence is not measured, and addresses {len(bases)} bases: end it with measure().")
        with blame_input("The sequence cannot be measured"):
            sequence.measure(bases[0])
    return sequence


def adapt_to_qpu(sequence: Sequence, device: Device, runs: int | None) -> Sequence:
    """The sequence on this very device; refuses what the QPU would refuse."""
    if runs is not None and device.max_runs is not None and runs > device.max_runs:
        raise InputFault(f"{runs} runs: {device.name} takes at most {device.max_runs}.")
    with blame_input(f"The sequence cannot run on {device.name}"):
        if sequence.device != device:
            sequence = sequence.with_new_device(device, strict=True)
        Backend.validate_sequence(sequence, mimic_qpu=True)
    return sequence


def read_config(
    text: str | None, runs: int | None, sequence: Sequence, simulator: Simulator
) -> tuple[EmulationConfig, BitStrings]:
    """What to observe and how, and which observable gives the counter. The job's runs override the configured shots."""
    kind = simulator.backend.config_type
    taken = SHARED_MEMBERS | simulator.members
    with blame_input("The backend_configuration cannot be read"):
        config = EmulationConfig(observables=[BitStrings()], default_num_shots=DEFAULT_SHOTS, **simulator.fixed)
        members = {}
        if text is not None:
            members = json.loads(text)
            if not isinstance(members, dict):
                raise InputFault("The backend_configuration is not a JSON object.")
        known = {name: members[name] for name in taken & members.keys()}
        config = kind.from_abstract_repr(json.dumps({**json.loads(config.to_abstract_repr()), **known}))
        if runs is not None:
            config = config.with_changes(default_num_shots=runs)
    counted = find_final_bitstrings(config)
    if counted is None:
        counted = BitStrings(evaluation_times=[1.0], tag_suffix="final")
        config = config.with_changes(observables=[*config.observables, counted])
    for each in config.observables:
        if isinstance(each, BitStrings):
            each.one_state = each.one_state or ONE_STATES[sequence.get_measurement_basis()]
            if (shots := each.num_shots or config.default_num_shots) > MAX_SHOTS:
                raise InputFault(f"{shots} shots: this emulator takes at most {MAX_SHOTS}.")
    return config, counted


def find_final_bitstrings(config: EmulationConfig) -> BitStrings | None:
    for each in config.observables:
        times = config.default_evaluation_times if each.evaluation_times is None else each.evaluation_times
        if isinstance(each, BitStrings) and (times == "Full" if isinstance(times, str) else 1.0 in times):
            return each
    return None


@contextmanager
def blame_input(what: str):
    """Pulser refuses input with exceptions of many classes. What only the machine lacks goes on as it is."""
    try:
        yield
    except (InputFault, OSError, ImportError):
        raise
    except Exception as error:
        # PyTorch has no class for it.
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            raise InputFault(f"{what}: it needs more memory than this emulator has.") from None
        raise InputFault(f"{what}: {describe(error)}") from error


def describe(error: Exception) -> str:
    """The error in one line, and what of the document it is about."""
    if isinstance(error, ValidationError):
        fault = find_cause(error)
        is_word = fault.validator in ("const", "enum") or len(fault.message) > 200
        text = f"{fault.json_path}: {f'{fault.instance!r:.100} is not valid' if is_word else fault.message}"
    elif isinstance(error, KeyError):
        text = f"{error} is missing"
    else:
        text = str(error) or type(error).__name__
    text = " ".join(text.split())
    return text if len(text) <= 500 else f"{text[:500]} …"


def find_cause(error: ValidationError) -> ValidationError:
    """Of the schema's alternatives, the first fault in the one that has the fewest."""
    alternatives: dict[int, list[ValidationError]] = {}
    for each in error.context:
        alternatives.setdefault(each.relative_schema_path[0], []).append(each)
    return find_cause(min(alternatives.values(), key=len)[0]) if alternatives else error
