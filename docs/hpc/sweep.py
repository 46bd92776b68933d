"""A sweep in one batch, through pasqal-cloud, with the same environment: QRMI would send a batch for each run."""

import json
import os
from pathlib import Path

from pasqal_cloud.authentication import TokenProvider
from pasqal_cloud.endpoints import Endpoints
from pasqal_cloud.pasqal_cloud_connection import PasqalCloudConnection
from pulser import Pulse, QPUBackend, Register, Sequence

qpu = os.environ["QRMI_JOB_QPU_RESOURCES"]


def setting(name):
    return os.environ[f"{qpu}_QRMI_PASQAL_CLOUD_{name}"]


class JobToken(TokenProvider):
    def get_token(self):
        return setting("AUTH_TOKEN")


core = setting("BASE_URL") + "/core-fast"
connection = PasqalCloudConnection(
    token_provider=JobToken(), project_id=setting("PROJECT_ID"), endpoints=Endpoints(core=core, account=core)
)
device = connection.fetch_available_devices()[qpu]

register = Register.rectangle(1, 2, spacing=20, prefix="q").with_automatic_layout(device)
sequence = Sequence(register, device)
sequence.declare_channel("rydberg", "rydberg_global")
duration = sequence.declare_variable("duration", dtype=int)
sequence.add(Pulse.ConstantPulse(duration, 6.0, 0.0, 0.0), "rydberg")
sequence.measure("ground-rydberg")

durations = range(100, 600, 100)
jobs = [{"runs": 100, "variables": {"duration": each}} for each in durations]
results = QPUBackend(sequence, connection).run(jobs, wait=True)
excited = {}
for each, result in zip(durations, results.results, strict=True):
    counts = result.final_bitstrings
    excited[each] = sum(bits.count("1") * count for bits, count in counts.items()) / (2 * sum(counts.values()))
    print(f"{each} ns: {excited[each]:.2f} excited")
Path("sweep.json").write_text(json.dumps(excited))
