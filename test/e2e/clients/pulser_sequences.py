"""Sequences made with Pulser, and its connection to the stack."""

from cloud_client import token_conf
from pasqal_cloud import PasqalCloudConnection
from pasqal_cloud.endpoints import Endpoints
from pulser import AnalogDevice, Pulse, Sequence


def connect(stack, user, project_id):
    return PasqalCloudConnection(
        username=user["username"],
        password=user["password"],
        project_id=project_id,
        endpoints=Endpoints(core=stack.baseUrl, account=stack.baseUrl),
        auth_config=token_conf(stack),
    )


def plain(device, register=None, duration=400, amplitude=2.0):
    """Three atoms, one pulse; without a measurement, which the connection adds."""
    layout = AnalogDevice.pre_calibrated_layouts[0]
    sequence = Sequence(register or layout.define_register(22, 25, 34), device)
    sequence.declare_channel("global", "rydberg_global")
    sequence.add(Pulse.ConstantPulse(duration, amplitude, 0.0, 0.0), "global")
    return sequence


def parametrized(device, register=None):
    """Takes values for `omega`, `duration` and two `detunings`."""
    sequence = plain(device, register)
    omega = sequence.declare_variable("omega")
    duration = sequence.declare_variable("duration", dtype=int)
    detunings = sequence.declare_variable("detunings", size=2)
    sequence.add(Pulse.ConstantPulse(duration, omega, detunings[1], 0.0), "global")
    return sequence


def mappable(device):
    """Takes traps for up to three `qubits`."""
    return plain(device, AnalogDevice.pre_calibrated_layouts[0].make_mappable_register(3))
