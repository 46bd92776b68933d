"""Sequences in the form in which Pulser writes them."""

import json
from pathlib import Path

SPECS = json.loads((Path(__file__).parents[3] / "infra/local/demo/device-specs.json").read_text(encoding="utf-8"))
FRESNEL = json.loads(SPECS["FRESNEL"])
LAYOUT = {"coordinates": FRESNEL["pre_calibrated_layouts"][0]["coordinates"]}


def sequence(*variables, device="FRESNEL", mappable=False, name="test"):
    """The text of a sequence of three atoms that declares `variables`."""
    register = (
        [{"qid": f"q{index}"} for index in range(3)]
        if mappable
        else [{"name": f"q{index}", "x": x, "y": y} for index, (x, y) in enumerate(LAYOUT["coordinates"][:3])]
    )
    return json.dumps(
        {
            "version": "1",
            "name": name,
            "register": register,
            "layout": LAYOUT,
            "channels": {"global": "rydberg_global"},
            "variables": {each: {"type": "float", "value": [0.0]} for each in variables},
            "operations": [],
            "measurement": "ground-rydberg",
            "pulser_version": "1.9.1",
            "device": {**FRESNEL, "name": device},
        }
    )
