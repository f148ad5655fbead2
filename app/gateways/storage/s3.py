"""Files in an S3-compatible bucket. A confirmed upload is durable; deleting removes all versions of an object."""

import hashlib
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from app.core.errors import GatewayError, NotFound
from app.gateways.storage.ports import PIECE, Content, Stored, pieces_of, vetted

_ABSENT = {"NoSuchKey", "404", "NotFound"}
_PASSING = {"RequestTimeout", "SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeTooSkewed", "Throttling"}
_PART = 8 * 1024 * 1024


class S3Storage:
    """Keys are objects of ``bucket`` below ``prefix``. Credentials come from boto3's usual places unless passed."""

    def __init__(
        self,
        bucket: str,
        prefix: str = "",
        *,
        endpoint: str | None = None,
        region: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
    ) -> None:
        self._bucket = bucket
        self._prefix = f"{vetted(prefix.strip('/'))}/" if prefix.strip("/") else ""
        self._client: Any = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name=region,
            aws_access_key_id=access_key,
            aws_secret_access_key=secret_key,
            config=Config(
                connect_timeout=5,
                read_timeout=30,
                retries={"max_attempts": 4, "mode": "standard"},
                max_pool_connections=32,
            ),
        )
        self._transfer = TransferConfig(multipart_threshold=_PART, multipart_chunksize=_PART, max_concurrency=4)

    def put(self, key: str, content: Content) -> Stored:
        source = _Counted(content)
        with _translated():
            # Without seek(), every byte is read once and in order, so the hash is of the bytes sent. Repeats of a
            # failed part are sent from memory.
            self._client.upload_fileobj(source, self._bucket, self._name(key), Config=self._transfer)
        return Stored(size=source.size, sha256=source.digest.hexdigest())

    def open(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        stop = self.size(key) if end is None else end
        return self._pieces(key, start, stop) if start < stop else iter(())

    def size(self, key: str) -> int:
        with _translated():
            return int(self._client.head_object(Bucket=self._bucket, Key=self._name(key))["ContentLength"])

    def delete(self, key: str) -> None:
        name = self._name(key)
        self._delete({"Key": stored, **version} for stored, version in self._versions(name) if stored == name)

    def delete_prefix(self, prefix: str) -> None:
        self._delete({"Key": stored, **version} for stored, version in self._versions(f"{self._name(prefix)}/"))

    def list(self, prefix: str) -> Iterator[str]:
        with _translated():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=f"{self._name(prefix)}/"
            )
            for page in pages:
                for item in page.get("Contents", []):
                    yield str(item["Key"]).removeprefix(self._prefix)

    def has_room(self) -> bool:
        return True

    def _name(self, key: str) -> str:
        return self._prefix + vetted(key)

    def _pieces(self, key: str, start: int, end: int) -> Iterator[bytes]:
        with _translated():
            span = f"bytes={start}-{end - 1}"
            try:
                body = self._client.get_object(Bucket=self._bucket, Key=self._name(key), Range=span)["Body"]
            except ClientError as error:
                if _status(error) == 416:  # the object ends before the range begins
                    return
                raise
            try:
                yield from body.iter_chunks(PIECE)
            finally:
                body.close()

    def _versions(self, name: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Objects whose names begin with ``name``, with their versions if the bucket keeps any."""
        with _translated():
            try:
                for page in self._client.get_paginator("list_object_versions").paginate(
                    Bucket=self._bucket, Prefix=name
                ):
                    for item in (*page.get("Versions", []), *page.get("DeleteMarkers", [])):
                        yield str(item["Key"]), {"VersionId": str(item["VersionId"])}
            except ClientError as error:
                if _status(error) != 501:
                    raise
                for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=name):
                    for item in page.get("Contents", []):
                        yield str(item["Key"]), {}

    def _delete(self, objects: Iterator[dict[str, str]]) -> None:
        while batch := list(itertools.islice(objects, 1000)):
            with _translated():
                answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": batch, "Quiet": True})
            if answer.get("Errors"):
                raise GatewayError(f"the storage could not delete {len(answer['Errors'])} objects", retryable=True)


class _Counted:
    """A reader that hashes and counts the bytes it returns."""

    def __init__(self, content: Content) -> None:
        self._pieces = pieces_of(content)
        self._waiting = b""
        self.digest = hashlib.sha256()
        self.size = 0

    def read(self, amount: int = -1) -> bytes:
        gathered = [self._waiting]
        have = len(self._waiting)
        while (amount < 0 or have < amount) and (piece := next(self._pieces, None)) is not None:
            gathered.append(piece)
            have += len(piece)
        whole = b"".join(gathered)
        content, self._waiting = (whole, b"") if amount < 0 else (whole[:amount], whole[amount:])
        self.digest.update(content)
        self.size += len(content)
        return content


@contextmanager
def _translated() -> Iterator[None]:
    """Turn boto3's errors into GatewayError and NotFound."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in _ABSENT:
            raise NotFound("the stored file does not exist") from error
        retryable = code in _PASSING or _status(error) in {408, 429} or _status(error) >= 500
        raise GatewayError(f"the object storage refused ({code or _status(error)})", retryable=retryable) from error
    except BotoCoreError as error:
        raise GatewayError(f"the object storage cannot be reached ({type(error).__name__})", retryable=True) from error


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
