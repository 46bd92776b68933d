"""Writes device-specs.json, the specifications of the demo's devices, as Pulser describes them.

Run again only for a new version of Pulser: `pip install pulser==1.9.1 && python infra/local/demo/make-device-specs.py`.

device-specs.json maps each device type to a text, Pulser's abstract representation of the device, which clients get
unchanged. The QPU has Pulser's AnalogDevice under its own name. The emulators accept whatever Pulser's MockDevice does, with
at most as many atoms as the worker in infra/local/emulator simulates.
"""

import json
from dataclasses import replace
from pathlib import Path

from pulser import AnalogDevice, MockDevice
from pulser.json.abstract_repr.deserializer import deserialize_device

emulator = replace(MockDevice, max_atom_num=12)
devices = {"FRESNEL": AnalogDevice, "EMU_FREE": emulator, "EMU_SV": emulator, "EMU_MPS": emulator}

specs = {}
for device_type, model in devices.items():
    device = replace(model, name=device_type)
    specs[device_type] = device.to_abstract_repr()
    assert deserialize_device(specs[device_type]) == device, f"{device_type} does not come back as it was"

target = Path(__file__).with_name("device-specs.json")
target.write_text(json.dumps(specs, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
