"""The client of pasqal-cloud, of whatever version is installed."""

from pasqal_cloud.endpoints import AUTH0_TOKEN_PROVIDER_GRANT_TYPE, AUDIENCE, REALM, Endpoints, TokenProviderConf

try:
    from pasqal_cloud.pasqal_cloud_client import PasqalCloudClient
except ImportError:  # 0.22
    from pasqal_cloud import SDK as PasqalCloudClient


def token_conf(stack, grant_type=AUTH0_TOKEN_PROVIDER_GRANT_TYPE):
    return TokenProviderConf(
        token_endpoint=stack.tokenEndpoint,
        public_client_id="any",
        audience=AUDIENCE,
        realm=REALM,
        grant_type=grant_type,
    )


def log_in(stack, user, project_id=None, path="", client_class=PasqalCloudClient, **options):
    base_url = stack.baseUrl + path
    return client_class(
        username=user["username"],
        password=user["password"],
        endpoints=Endpoints(core=base_url, account=base_url),
        auth_config=token_conf(stack),
        project_id=project_id,
        **options,
    )


def fields(item):
    """What the client's model knows of a batch or a job."""
    return {name: getattr(item, name) for name in type(item).model_fields}
