"""What is particular to a bucket."""

import pytest

from app.core.errors import GatewayError, NotFound
from app.gateways.storage.s3 import S3Storage

from .conftest import KEYS


def test_deleting_from_a_versioned_bucket_leaves_no_version(bucket):
    name, endpoint, client = bucket
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    storage = S3Storage(name, endpoint=endpoint, **KEYS)
    for content in (b"first", b"second"):
        storage.put("r/1/a", content)
        storage.put("r/1/ab", content)
    storage.delete("r/1/a")
    left = client.list_object_versions(Bucket=name)
    assert {item["Key"] for item in left["Versions"]} == {"r/1/ab"}
    storage.delete_prefix("r")
    assert "Versions" not in client.list_object_versions(Bucket=name)


def test_the_prefix_of_the_address_is_not_part_of_keys(bucket):
    name, endpoint, client = bucket
    S3Storage(name, "some/where/", endpoint=endpoint, **KEYS).put("r/a", b"x")
    assert [item["Key"] for item in client.list_objects_v2(Bucket=name)["Contents"]] == ["some/where/r/a"]


def test_a_bucket_that_is_not_there_is_a_lasting_error(s3_endpoint):
    storage = S3Storage("no-such-bucket", endpoint=s3_endpoint, **KEYS)
    with pytest.raises(GatewayError, match="NoSuchBucket") as error:
        storage.put("r/a", b"x")
    assert error.value.retryable is False
    with pytest.raises(NotFound):
        storage.size("r/a")


def test_an_endpoint_that_is_not_there_may_be_tried_again():
    storage = S3Storage("bucket", endpoint="http://127.0.0.1:9", **KEYS)
    with pytest.raises(GatewayError, match="cannot be reached") as error:
        storage.put("r/a", b"x")
    assert error.value.retryable is True
