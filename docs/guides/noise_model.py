"""Pulser's noise model of the calibration that a job carries: see clients.md, "Calibrations"."""

import requests
from pulser import NoiseModel

NAMES = """state_prep_error p_false_pos p_false_neg temperature laser_waist amp_sigma detuning_sigma
    relaxation_rate dephasing_rate hyperfine_dephasing_rate depolarizing_rate trap_waist trap_depth
    dmm_sigma detuning_map_spot_waist""".split()


def noise_model(numbers: dict[str, float]) -> NoiseModel:
    """The noise of these numbers of a calibration; what NoiseModel does not know is left out."""
    return NoiseModel(**{name: numbers[name] for name in NAMES if name in numbers})


def numbers_of(api: str, token: str, device_type: str, number: int | str = "latest") -> dict[str, float]:
    """The numbers of a device's calibration: of a job's `calibration`, or of the latest."""
    url = f"{api}/api/v1/devices/{device_type}/calibrations/{number}"
    answer = requests.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=30)
    answer.raise_for_status()
    return answer.json()["data"]["numbers"]
