import json
from pathlib import Path
from uuid import uuid4

import pytest
from cloud_client import PasqalCloudClient
from pasqal_cloud.endpoints import Endpoints
from pasqal_cloud.errors import ProjectNotFoundError

specs_file = Path(__file__).parents[4] / "infra/local/demo/device-specs.json"


def test_specifications_come_as_they_were_announced(client):
    announced = json.loads(specs_file.read_text())
    specs = client.get_device_specs_dict()
    assert {device_type: specs.get(device_type) for device_type in announced} == announced


def test_public_specifications_need_no_login(stack):
    client = PasqalCloudClient(endpoints=Endpoints(core=stack.baseUrl, account=stack.baseUrl))
    specs = client.get_device_specs_dict()
    announced = json.loads(specs_file.read_text())
    assert specs and set(specs.items()) <= set(announced.items())


def test_projects_are_those_that_the_user_has_used(client, create, project_id):
    assert project_id not in [project.id for project in client.get_all_projects()]
    create()
    assert project_id in [project.id for project in client.get_all_projects()]


def test_switching_to_another_project(client, create, project_id):
    create()
    assert client.switch_to_project(project_id) == project_id
    with pytest.raises(ProjectNotFoundError):
        client.switch_to_project(str(uuid4()))
    assert client.project_id == project_id
