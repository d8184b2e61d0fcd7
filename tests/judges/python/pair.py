# A pytest plugin (-p pair): fakeredis's hypothesis machines hold our server against another that listens on
# $REFERENCE_PORT, in place of fakeredis. It knows where the machines get their second client, and what to leave out.
import os

import pytest


def reference_client(config):
    import redis

    client = redis.StrictRedis("127.0.0.1", port=int(os.environ["REFERENCE_PORT"]), db=config.db)
    client.flushall()
    client.config_resetstat()
    return client


# SAVE is to come, as are most lines of FUNCTION HELP. With RESP3 the end of a subscription is a push, and the client
# waits for a reply besides, whichever the server. In Valkey, MULTI or WATCH inside MULTI spoils the transaction, in Redis
# it is an error and no more. Of several conditions (NX, XX, GT, LT) of a hash field's time Valkey takes the last, and
# Redis allows one.
LEFT_OUT = {b"SAVE", b"UNSUBSCRIBE", b"PUNSUBSCRIBE", b"SUNSUBSCRIBE", b"FUNCTION HELP"}


def is_left_out(machine, command):
    words = [command.encode(word).upper() for word in command.args]
    if words[0] in LEFT_OUT:
        return True
    if words[0] in (b"MULTI", b"WATCH") and getattr(machine, "in_multi", False):
        return True
    if words in ([b"MULTI"], [b"EXEC"], [b"DISCARD"]):
        machine.in_multi = words == [b"MULTI"]
    if words[0] not in (b"HEXPIRE", b"HPEXPIRE"):
        return False
    return sum(word in (b"NX", b"XX", b"GT", b"LT") for word in words[3:]) > 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    from hypothesis import settings
    from test.test_hypothesis import base

    examples = int(os.environ.get("EXAMPLES", "100"))
    base_profile = settings.get_profile("fakeredis")
    settings.register_profile("pair", parent=base_profile, deadline=None, print_blob=True, max_examples=examples)
    settings.load_profile("pair")
    base.MachineConfig.make_fake_client = reference_client
    compare = base.BaseMachine._compare

    def compare_all_but_left_out(machine, command):
        if not is_left_out(machine, command):
            compare(machine, command)

    base.BaseMachine._compare = compare_all_but_left_out
