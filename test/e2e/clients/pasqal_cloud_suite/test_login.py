import pytest
from cloud_client import PasqalCloudClient, log_in, token_conf
from pasqal_cloud.authentication import PasswordGrantTokenProvider, TokenProvider, TokenProviderError
from pasqal_cloud.endpoints import AUTH0_TOKEN_PROVIDER_GRANT_TYPE, Endpoints
from pasqal_cloud.errors import BatchFetchingError
from refusals import refused


class FixedToken(TokenProvider):
    def __init__(self, token):
        self.token = token

    def get_token(self):
        return self.token


def client_with(stack, token):
    endpoints = Endpoints(core=stack.baseUrl, account=stack.baseUrl)
    return PasqalCloudClient(token_provider=FixedToken(token), endpoints=endpoints)


@pytest.mark.parametrize("grant_type", [AUTH0_TOKEN_PROVIDER_GRANT_TYPE, "password"])
def test_a_password_is_exchanged_for_a_token(stack, reader, grant_type):
    provider = PasswordGrantTokenProvider(reader["username"], reader["password"], token_conf(stack, grant_type))
    assert client_with(stack, provider.get_token()).get_batches().total > 0


def test_a_wrong_password_is_refused(stack, reader):
    with pytest.raises(TokenProviderError, match="Wrong username or password"):
        PasswordGrantTokenProvider(reader["username"], "wrong", token_conf(stack))


def test_a_token_of_another_provider_is_accepted(stack, reader):
    client = client_with(stack, reader["token"])
    assert client.user_token() == reader["token"]
    assert client.get_batches().total > 0


@pytest.mark.parametrize("token", ["", "no-token", "a.b.c"])
def test_a_bad_token_is_refused(stack, token):
    with refused(BatchFetchingError, 401):
        client_with(stack, token).get_batches()


def test_the_old_name_of_the_client(stack, reader):
    from pasqal_cloud import SDK

    assert log_in(stack, reader, client_class=SDK).get_batches().total > 0


def test_the_path_of_the_public_service(stack, reader):
    assert log_in(stack, reader, path="/core-fast").get_batches().total > 0
