# A pytest plugin (-p pair): fakeredis's hypothesis machines hold our server against Redis itself, which listens
# on $REFERENCE_PORT, in place of fakeredis. It knows where the machines get their second client, no more.
import os

import pytest


def reference_client(config):
    import redis

    client = redis.StrictRedis("127.0.0.1", port=int(os.environ["REFERENCE_PORT"]), db=config.db)
    client.flushall()
    client.config_resetstat()
    return client


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    from hypothesis import settings
    from test.test_hypothesis import base

    examples = int(os.environ.get("EXAMPLES", "100"))
    base_profile = settings.get_profile("fakeredis")
    settings.register_profile("pair", parent=base_profile, deadline=None, print_blob=True, max_examples=examples)
    settings.load_profile("pair")
    base.MachineConfig.make_fake_client = reference_client
