"""Sequences in the form in which Pulser writes them, as far as the service reads them."""

import json


def sequence(*variables, device="FRESNEL", mappable=False, name="test"):
    """The text of a sequence of three atoms that declares `variables`."""
    register = (
        [{"qid": f"q{index}"} for index in range(3)]
        if mappable
        else [{"name": f"q{index}", "x": 5.0 * index, "y": 0.0} for index in range(3)]
    )
    return json.dumps(
        {
            "version": "1",
            "name": name,
            "register": register,
            "channels": {"global": "rydberg_global"},
            "variables": {each: {"type": "float", "value": [0.0]} for each in variables},
            "operations": [],
            "measurement": "ground-rydberg",
            "pulser_version": "1.9.1",
            "device": {"name": device},
        }
    )
