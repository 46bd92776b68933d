"""Makes random sequences, devices and jobs, and asks Pulser what it thinks of each: one line of JSON a case.

usage: judge.py COUNT SEED. A line is {sequence, specs, variables, runs, refusal}: `specs` is the announced device or null,
`refusal` what Pulser says, or null where it accepts. It goes the way of the emulator's worker (simulation.py), without a simulation.
"""

import copy
import json
import math
import random
import sys
import warnings
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "infra" / "local" / "emulator"))
import pulser  # noqa: E402
from pulser import Sequence  # noqa: E402
from pulser.json.abstract_repr.deserializer import deserialize_device  # noqa: E402
from simulation import InputFault, adapt_to_qpu  # noqa: E402

SPECS = json.loads((Path(__file__).parents[2] / "infra/local/demo/device-specs.json").read_text(encoding="utf-8"))
NAMES = ("AnalogDevice", "DigitalAnalogDevice", "WeightedAnalogDevice", "MockDevice")
DEVICES = [json.loads(getattr(pulser.devices, name).to_abstract_repr()) for name in NAMES]
DEVICES += [json.loads(specs) if isinstance(specs, str) else specs for specs in SPECS.values()]


class Maker:
    """`wrong(p)`: whether to do something that a device may refuse. Half of all cases do nothing on purpose."""

    def __init__(self, seed: str):
        self.random = random.Random(seed)
        self.faults = self.random.choice((0, 0, 0, 0, 1, 1, 2, 6))

    def wrong(self, probability: float) -> bool:
        return self.random.random() < probability * self.faults

    def device(self) -> dict:
        while True:
            device = self.change(copy.deepcopy(self.random.choice(DEVICES)))
            with suppress(Exception):
                deserialize_device(json.dumps(device))
                return device

    def change(self, device: dict) -> dict:
        pick = self.random
        if pick.random() < 0.4:
            device["max_atom_num"] = pick.choice((4, 6, 10))
        if pick.random() < 0.3:
            device["min_atom_distance"] = pick.choice((1, 4, 5.0, 6))
        if pick.random() < 0.2:
            device["max_radial_distance"] = pick.choice((8, 12, 60))
        if pick.random() < 0.2:
            device["dimensions"] = pick.choice((2, 3))
        if pick.random() < 0.2:
            device["min_layout_traps"] = pick.choice((1, 5, 12))
            device["min_layout_filling"] = pick.choice((0.0, 0.2, 0.4))
        if pick.random() < 0.2:
            device["max_layout_filling"] = pick.choice((0.4, 0.5, 1.0))
            device.pop("optimal_layout_filling", None)
        if pick.random() < 0.3:
            device["max_sequence_duration"] = pick.choice((600, 1500, 4000))
        if pick.random() < 0.2:
            device["max_runs"] = pick.choice((50, 500))
        if pick.random() < 0.1:
            device["rydberg_level"] = pick.choice((60, 70))
        if not device["is_virtual"]:
            if pick.random() < 0.5:
                device["requires_layout"] = pick.random() < 0.7
            if pick.random() < 0.3:
                device["accepts_new_layouts"] = False
        else:
            device["reusable_channels"] = pick.random() < 0.5
        for channel in device["channels"]:
            if pick.random() < 0.3:
                channel["max_amp"] = pick.choice((3.0, 6.5, 12.566370614359172))
            if pick.random() < 0.3:
                channel["max_abs_detuning"] = pick.choice((8.0, 20.0))
            if pick.random() < 0.2:
                channel["min_avg_amp"] = pick.choice((0.1, 1.0))
            if pick.random() < 0.3:
                channel["min_duration"], channel["max_duration"] = pick.choice(((1, 1000), (16, 2000), (100, 400)))
            if channel["addressing"] == "Local" and pick.random() < 0.5:
                channel["max_targets"] = pick.choice((1, 2, 3))
        return device

    def coordinates(self, count: int, spacing: float, dimensions: int) -> list[list[float]]:
        """A part of a grid around the center, sometimes with a place that is too near or too far."""
        side = 1
        while side**dimensions < count:
            side += 1
        values = [(at - (side - 1) / 2) * spacing for at in range(side)]
        grid = [[x, y] for x in values for y in values]
        if dimensions == 3:
            grid = [[*place, z] for place in grid for z in values]
        self.random.shuffle(grid)
        places = grid[:count]
        if self.wrong(0.06):
            places[0] = [value + 0.3 for value in places[-1]]
        if self.wrong(0.06):
            places[0] = [value + 70 for value in places[0]]
        return places

    def register(self, sequence: dict, device: dict) -> None:
        pick = self.random
        dimensions = 3 if device["dimensions"] == 3 and pick.random() < 0.3 or self.wrong(0.04) else 2
        most = device["max_atom_num"] or 10
        count = pick.randint(1, min(most, 10)) + (most if self.wrong(0.05) else 0)
        spacing = (device["min_atom_distance"] or 4) * pick.choice((1.0, 1.0, 1.2))
        kind = pick.random()
        if kind < 0.35 and not (device.get("requires_layout") and not self.wrong(0.2)):
            places = self.coordinates(count, spacing, dimensions)
        else:
            calibrated = device.get("pre_calibrated_layouts")
            if calibrated and pick.random() < 0.5:
                traps = pick.choice(calibrated)["coordinates"]
            else:
                traps = self.coordinates(max(2, count * pick.choice((2, 2, 3)) - self.wrong(0.2)), spacing, dimensions)
            count = min(count, max(1, int(len(traps) * device.get("max_layout_filling", 0.5)))) if not self.wrong(0.1) else count
            sequence["layout"] = {"coordinates": traps}
            places = pick.sample(traps, min(count, len(traps)))
            if self.wrong(0.05):
                places[0] = [places[0][0] + 0.01, *places[0][1:]]
            if kind > 0.75:
                sequence["register"] = [{"qid": f"q{at}"} for at in range(count)]
                return
        axes = "xyz"
        sequence["register"] = [
            {"name": f"q{at}", **dict(zip(axes, place))} for at, place in enumerate(places)
        ]

    def channels(self, sequence: dict, device: dict) -> None:
        pick = self.random
        xy = any(each["basis"] == "XY" for each in device["channels"]) and pick.random() < 0.25
        ids = [each["id"] for each in device["channels"] if (each["basis"] == "XY") == xy or self.wrong(0.1)]
        count = pick.randint(1, min(3, len(ids))) if ids else 0
        chosen = pick.sample(ids, count)
        if device["reusable_channels"] and pick.random() < 0.3 or self.wrong(0.05):
            chosen += chosen[:1]
        if self.wrong(0.04):
            chosen.append("no_such_channel")
        sequence["channels"] = {f"ch{at}": each for at, each in enumerate(chosen)}
        if xy and pick.random() < 0.5 or self.wrong(0.03):
            sequence["magnetic_field"] = [0.0, 1.0, 30.0]

    def number(self, value: float, integer: bool = False):
        """The value itself or, in a parametrized sequence, sometimes an expression that comes near it with the job's values."""
        if not self.variables or self.random.random() > 0.35:
            return value
        name = self.random.choice([each for each in self.variables if each in self.values and each.startswith("i") == integer] or [None])
        if name is None:
            return value
        if self.wrong(0.02):
            name = "undeclared"
        if self.wrong(0.06):
            value = self.random.choice((value * 1.6, value * 40, -value, 0, value + 0.7))
        given = self.values.get(name) or [1]
        at = self.random.randrange(len(given))
        item = {"expression": "index", "lhs": {"variable": name}, "rhs": self.random.choice((at, at - len(given)))}
        return self.whole(item, int(given[at]), value) if integer else self.expression(item, given[at], value)

    def whole(self, item: dict, given: int, value: float) -> dict:
        pick = self.random
        kind = pick.random()
        if kind < 0.2:
            return item
        if kind < 0.6:
            return {"expression": "add", "lhs": item, "rhs": value - given}
        if kind < 0.8 and given:
            return {"expression": "floor", "lhs": {"expression": "mul", "lhs": item, "rhs": (value + 0.3) / given}}
        if kind < 0.9:
            return {"expression": "mod", "lhs": {"expression": "sub", "lhs": value + given, "rhs": item}, "rhs": 1000}
        return {"expression": "sub", "lhs": value + given + pick.choice((0, 0.5)), "rhs": item}

    def expression(self, item: dict, given: float, value: float) -> dict:
        pick = self.random
        call = lambda name, lhs, *rhs: {"expression": name, "lhs": lhs, **({"rhs": rhs[0]} if rhs else {})}  # noqa: E731
        forms = [
            lambda: call("add", item, value - given),
            lambda: call("sub", value + given, item),
            lambda: call("mul", value, call("cos", call("sub", item, given))),
            lambda: call("mul", value, call("div", call("exp", item), pick.choice((math.exp(given), call("exp", given))))),
            lambda: call("sub", call("exp", item), math.exp(given) - value),
            lambda: call("neg", call("sub", call("tanh", item), math.tanh(given) + value)),
            lambda: call("add", call("sin", call("mul", item, 1e3)), value - math.sin(given * 1e3)),
            lambda: call("mul", item, call("div", value, given)),
            lambda: call("div", item, given / value),
            lambda: call("sqrt", call("pow", call("mul", item, value / given), 2)),
            lambda: call("abs", call("mul", call("pow", item, 3), value / given**3)),
            lambda: call("add", call("log", call("abs", item)), value - math.log(abs(given))),
            lambda: call("floor", call("mul", item, value / given)),
            lambda: call("mod", call("add", item, value - given), pick.choice((7, -3.5))),
            lambda: call("index", item["lhs"], [item["rhs"]]),
        ]
        pick.shuffle(forms)
        for form in forms:
            with suppress(ArithmeticError, ValueError):
                return form()
        return item

    def duration(self, channel: dict) -> int:
        least, most = channel["min_duration"], min(channel["max_duration"] or 800, 800)
        clock = channel["clock_period"]
        value = self.random.randint(least, max(least, most)) // clock * clock
        value = max(value, -(-least // clock) * clock)
        if self.wrong(0.04):
            value = self.random.choice((0, 1, least - 1, (channel["max_duration"] or 10**6) + clock))
        return value

    def waveform(self, duration: int, low: float, high: float, parametrizable: bool = True) -> dict:
        pick = self.random
        value = lambda: high if pick.random() < 0.1 else round(pick.uniform(low, high), pick.choice((1, 3, 12)))  # noqa: E731
        number = self.number if parametrizable else lambda each, _=False: each
        kind = pick.random()
        if kind < 0.5:
            return {"kind": "constant", "duration": duration, "value": number(value())}
        if kind < 0.75:
            stop = -2.8e-17 if pick.random() < 0.05 else value()
            return {"kind": "ramp", "duration": duration, "start": number(value()), "stop": number(stop)}
        if kind < 0.85 and duration > 3:
            first = duration // 2
            halves = [self.waveform(first, low, high, parametrizable), self.waveform(duration - first, low, high, parametrizable)]
            return {"kind": "composite", "waveforms": halves}
        if kind < 0.92 and duration < 400:
            return {"kind": "custom", "samples": [value() for _ in range(duration)]}
        area = abs(high) * duration / 1000 * pick.choice((0.3, 0.415, 0.42, 0.43 if self.wrong(0.2) else 0.4))
        if low >= 0 and kind < 0.97:
            return {"kind": "blackman", "duration": duration, "area": number(area)}
        if low >= 0:
            return {"kind": "kaiser", "duration": duration, "area": area, "beta": 14.0}
        return {"kind": "interpolated", "duration": duration, "values": [0.0, value(), value()], "times": [0.0, 0.5, 1.0]}

    def pulse(self, name: str, channel: dict) -> dict:
        duration = self.duration(channel)
        amplitude = min(channel["max_amp"] or 10.0, 10.0) * (1.5 if self.wrong(0.04) else 1.0)
        detuning = min(channel["max_abs_detuning"] or 20.0, 20.0) * (1.5 if self.wrong(0.04) else 1.0)
        least = min(channel.get("min_avg_amp", 0), amplitude) if not self.wrong(0.04) else (-1.0 if self.wrong(0.1) else 0.01)
        pulse = {
            "op": "pulse",
            "channel": name if not self.wrong(0.02) else "nobody",
            "protocol": self.random.choice(("min-delay", "no-delay", "wait-for-all")),
            "amplitude": self.waveform(duration, least, amplitude),
            "detuning": self.waveform(duration + (4 if self.wrong(0.03) else 0), -detuning, detuning),
            "phase": self.number(self.random.choice((0.0, 0.0, 1.5))),
            "post_phase_shift": 0.0,
        }
        if isinstance(shared := self.number(duration, True), dict):
            pulse["amplitude"] = {"kind": "constant", "duration": shared, "value": amplitude}
            pulse["detuning"] = {"kind": "ramp", "duration": shared, "start": -detuning, "stop": self.number(detuning)}
        elif self.random.random() < 0.1:
            pulse["amplitude"] = {"kind": "constant", "duration": 0, "value": self.number(amplitude)}
        if self.random.random() < 0.05:
            pulse["op"], pulse["phase"] = "pulse_arbitrary_phase", pulse.pop("detuning")
        return pulse

    def eom(self, name: str, channel: dict) -> list[dict]:
        on = {
            "op": "enable_eom_mode",
            "channel": name,
            "amp_on": self.number(min(channel["max_amp"] or 5.0, 5.0) * (9 if self.wrong(0.03) else 1)),
            "detuning_on": 0.0,
            "optimal_detuning_off": 0.0,
            "correct_phase_drift": False,
        }
        pulses = [
            {
                "op": "add_eom_pulse",
                "channel": name,
                "duration": self.number(self.duration(channel), True),
                "phase": 0.0,
                "post_phase_shift": 0.0,
                "protocol": "min-delay",
                "correct_phase_drift": False,
            }
            for _ in range(self.random.randint(1, 2))
        ]
        off = {"op": "disable_eom_mode", "channel": name, "correct_phase_drift": False}
        steps = [on, *pulses, off]
        if self.wrong(0.08):
            steps.pop(self.random.randrange(len(steps)))
        return steps

    def targets(self, targets: list):
        if len(targets) > 1 or self.random.random() < 0.5:
            return targets
        return self.number(targets[0], True)

    def operations(self, sequence: dict, device: dict) -> None:
        pick = self.random
        by_id = {each["id"]: each for each in device["channels"]}
        declared = {name: by_id.get(each, device["channels"][0]) for name, each in sequence["channels"].items()}
        qubits = len(sequence["register"])
        operations = sequence["operations"]
        maps = [f"dmm_{at}" for at in range(len(device.get("dmm_objects", [])))]
        if (device.get("supports_slm_mask") and maps and pick.random() < 0.2 and "qid" not in sequence["register"][0]) or self.wrong(0.03):
            masked = [each.get("name", "q0") for each in sequence["register"][:2]]
            operations.append({"op": "config_slm_mask", "qubits": masked if not self.wrong(0.1) else ["nobody"], "dmm_id": "dmm_0"})
        elif (maps and pick.random() < 0.3) or self.wrong(0.03):
            places = sequence.get("layout", {}).get("coordinates") or [[q.get("x", 0), q.get("y", 0)] for q in sequence["register"]]
            traps = [{"x": place[0], "y": place[1], "weight": 0.5} for place in places]
            operations.append({"op": "config_detuning_map", "dmm_id": "dmm_0", "detuning_map": {"traps": traps}})
            top = 4.0 if self.wrong(0.2) else 0.0
            waveform = self.waveform(100, -8.0, top)
            operations.append({"op": "add_dmm_detuning", "dmm_name": "dmm_0", "waveform": waveform, "protocol": "no-delay"})
        for name, channel in declared.items():
            if channel["addressing"] == "Local" and not self.wrong(0.06) or self.wrong(0.02):
                few = pick.randint(1, min(channel.get("max_targets") or 2, qubits))
                targets = pick.sample(range(qubits), min(qubits, few + self.wrong(0.1)))
                targets = [qubits] if self.wrong(0.05) else targets
                operations.append({"op": "target", "channel": name, "target": self.targets(targets)})
        for _ in range(pick.randint(1, 4)):
            if not declared:
                return
            name, channel = pick.choice(list(declared.items()))
            kind = pick.random()
            if kind < 0.12:
                operations.append({"op": "delay", "channel": name, "time": self.number(self.duration(channel), True), "at_rest": pick.random() < 0.2})
            elif kind < 0.2:
                basis = channel["basis"] if not self.wrong(0.1) else pick.choice(("digital", "XY", "ground-rydberg"))
                target = pick.randrange(qubits) if not self.wrong(0.1) else qubits + 1
                operations.append({"op": "phase_shift", "basis": basis, "targets": [self.number(target, True)], "phi": self.number(1.0)})
            elif kind < 0.26 and (len(declared) > 1 or self.wrong(0.5)):
                names = list(declared)[: 1 if self.wrong(0.2) else 3]
                operations.append({"op": "align", "channels": names, "at_rest": True})
            elif kind < 0.42 and (channel.get("eom_config") or self.wrong(0.1)):
                operations.extend(self.eom(name, channel))
            else:
                operations.append(self.pulse(name, channel))
        if pick.random() < 0.03:
            operations.append({"op": "truncate", "duration": 400})

    def spoil(self, value, depth: int = 0) -> None:
        """Changes something in the form: a member that goes, comes or has another type."""
        pick = self.random
        parts = list(value.items() if isinstance(value, dict) else enumerate(value))
        inner = [part for _, part in parts if isinstance(part, (dict, list)) and part]
        if inner and pick.random() < (0.75 if depth < 6 else 0.2):
            return self.spoil(pick.choice(inner), depth + 1)
        key = pick.choice(parts)[0]
        if isinstance(value, list):
            value[key] = pick.choice(("text", None, {}, True))
        elif pick.random() < 0.4:
            del value[key]
        elif pick.random() < 0.3:
            value["newer"] = 1
        else:
            value[key] = pick.choice(("text", None, [], 1.5, False))

    def job(self, sequence: dict) -> dict:
        pick = self.random
        variables = {}
        for name, declared in self.variables.items():
            if self.wrong(0.05):
                continue
            size = len(declared["value"]) + self.wrong(0.05)
            values = (self.values.get(name, []) + [1, 1, 1])[:size]
            variables[name] = values if size != 1 or pick.random() < 0.5 else values[0]
            if self.wrong(0.04):
                variables[name] = pick.choice((300, -1, 0, 2.5, 1e17, 2**53 + 1, True, "2", [[3]], {}))
        if "qid" in sequence["register"][0] and not self.wrong(0.05):
            traps = sequence["layout"]["coordinates"]
            ids = [each["qid"] for each in sequence["register"]]
            count = pick.choice((len(ids), pick.randint(1, len(ids))))
            chosen = pick.sample(range(len(traps)), min(count, len(traps)))
            if self.wrong(0.1):
                chosen[0] = pick.choice((chosen[-1], len(traps)))
            variables["qubits"] = dict(zip(ids if not self.wrong(0.05) else ids[::-1] + ["extra"], chosen))
        return variables

    def case(self) -> dict:
        pick = self.random
        device = self.device()
        named = pick.random() < 0.1
        sequence = {"version": "1", "name": "random", "pulser_version": "1.9.1", "register": [], "channels": {}, "variables": {}, "operations": []}
        if named:
            device = copy.deepcopy(DEVICES[3])
        sequence["device"] = "MockDevice" if named else device
        self.variables = {}
        if pick.random() < 0.5:
            self.variables = {"f": {"type": "float", "value": [0.0] * pick.randint(1, 2)}, "i": {"type": "int", "value": [0] * pick.randint(1, 2)}}
            if self.wrong(0.03):
                self.variables["f"]["value"] = []
            if self.wrong(0.02):
                self.variables["seq_name"] = {"type": "float", "value": [0.0]}
        self.values = {
            name: [pick.choice((100, 200, 64, 1.9)) if each["type"] == "int" else pick.choice((0.5, 1, -2.5, 0, round(pick.uniform(-3, 3), 7))) for _ in each["value"]]
            for name, each in self.variables.items()
        }
        sequence["variables"] = self.variables
        self.register(sequence, device)
        self.channels(sequence, device)
        self.operations(sequence, device)
        bases = [each["basis"] for each in device["channels"] if each["id"] in sequence["channels"].values()]
        measured = pick.choice((bases[:1] or [None]) + [None])
        sequence["measurement"] = pick.choice(("XY", "digital", "ground-rydberg")) if self.wrong(0.05) else measured
        variables = self.job(sequence)
        others = () if self.variables else (self.device(), pick.choice(DEVICES))
        announced = pick.choice((None, device, device, *others))
        if pick.random() < 0.08:
            self.spoil(sequence)
        if pick.random() < 0.03:
            sequence.pop("pulser_version", None)
        return {
            "sequence": json.dumps(sequence),
            "specs": None if announced is None else json.dumps(announced),
            "variables": variables,
            "runs": pick.choice((None, 10, 100, 1000)),
        }


def refusal_of(case: dict) -> str | None:
    device = None
    if case["specs"] is not None:
        try:
            device = deserialize_device(case["specs"])
        except Exception:
            case["specs"] = None
    try:
        sequence = Sequence.from_abstract_repr(case["sequence"])
        if sequence.is_parametrized() or sequence.is_register_mappable():
            sequence = sequence.build(**case["variables"])
        if isinstance(device, pulser.devices.Device):
            adapt_to_qpu(sequence, device, case["runs"])
    except InputFault as fault:
        return str(fault)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def main() -> None:
    warnings.simplefilter("ignore")
    count, seed = int(sys.argv[1]), sys.argv[2]
    for at in range(count):
        case = Maker(f"{seed}-{at}").case()
        case["refusal"] = refusal_of(case)
        print(json.dumps(case))


main()
