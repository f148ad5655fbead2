"""The same promises on both storages: a directory, and a real S3 protocol served by moto on this machine.

    S3_TEST_URL=http://127.0.0.1:8080 S3_TEST_KEYS=access:secret python -m pytest -n0 tests/storage

takes another S3 server instead.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import boto3
import pytest

from app.gateways.storage import LocalStorage
from app.gateways.storage.s3 import S3Storage
from tests import leftovers

OTHER_URL = os.environ.get("S3_TEST_URL")
ACCESS_KEY, SECRET_KEY = os.environ.get("S3_TEST_KEYS", "test:test").rsplit(":", 1)
KEYS = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY, "region": "us-east-1"}


@pytest.fixture(scope="session")
def s3_endpoint():
    """The address of an S3 server that ends with the tests, or of the one that was named."""
    if OTHER_URL:
        yield OTHER_URL
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        leftovers.end(server, seconds=10)


@pytest.fixture
def bucket(s3_endpoint, request):
    """A new bucket: (name, endpoint, client)."""
    client = boto3.client(
        "s3",
        endpoint_url=s3_endpoint,
        region_name="us-east-1",
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
    )
    name = f"parley-{abs(hash(request.node.nodeid))}"
    client.create_bucket(Bucket=name)
    yield name, s3_endpoint, client
    client.close()


@pytest.fixture(params=["local", "s3"])
def storage(request, tmp_path: Path):
    """Each test that asks for this runs once per kind of storage."""
    if request.param == "local":
        return LocalStorage(tmp_path / "files")
    name, endpoint, _client = request.getfixturevalue("bucket")
    return S3Storage(name, "parley/test", endpoint=endpoint, **KEYS)
