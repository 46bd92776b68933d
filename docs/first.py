"""A first batch: two atoms that block each other, on the local stack with `npm run emulator`."""

import json
import os

import pulser
from pasqal_cloud.endpoints import AUDIENCE, Endpoints, TokenProviderConf
from pasqal_cloud.pasqal_cloud_connection import PasqalCloudConnection
from pulser.backend import QPUBackend

stack = json.load(open(os.environ.get("STACK_JSON", ".local/stack.json")))  # written by npm start
user = stack["users"][0]
connection = PasqalCloudConnection(
    username=user["username"],
    password=user["password"],
    project_id="28f69c3b-e076-4ad3-b3f9-cbfc3f84e51e",  # any UUID: here a project needs no creation
    endpoints=Endpoints(core=stack["baseUrl"], account=stack["baseUrl"]),
    # "any": client and realm, which the local issuer does not look at
    auth_config=TokenProviderConf(stack["tokenEndpoint"], "any", AUDIENCE, "any", "password"),
)

device = connection.fetch_available_devices()["FRESNEL"]
register = pulser.Register.from_coordinates([(0, 0), (0, 6)], prefix="q")
sequence = pulser.Sequence(register.with_automatic_layout(device), device)
sequence.declare_channel("rydberg", "rydberg_global")
sequence.add(pulser.Pulse.ConstantPulse(500, amplitude=4.44, detuning=0, phase=0), "rydberg")
sequence.measure("ground-rydberg")

results = QPUBackend(sequence, connection).run(job_params=[{"runs": 100}], wait=True)
print(results.results[0].final_bitstrings)
