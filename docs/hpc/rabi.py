"""One run on the QPU that Slurm gave to this job, through QRMI."""

from pulser import Pulse, QPUBackend, Register, Sequence
from qrmi.pulser.connection import PulserQRMIConnection

connection = PulserQRMIConnection()  # The QPU of --qpu, by QRMI_JOB_QPU_RESOURCES.
[device] = connection.fetch_available_devices().values()

register = Register.square(2, spacing=8, prefix="q").with_automatic_layout(device)
sequence = Sequence(register, device)
sequence.declare_channel("rydberg", "rydberg_global")
sequence.add(Pulse.ConstantPulse(500, 6.0, 0.0, 0.0), "rydberg")
sequence.measure("ground-rydberg")

results = QPUBackend(sequence, connection).run([{"runs": 100}], wait=True)
for result in results.results:
    print(result.atom_order, dict(result.final_bitstrings))
