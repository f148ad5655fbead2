"""Where files are stored: a local directory or an S3-compatible bucket. Rows hold keys and do not know which it is."""

import uuid
from urllib.parse import urlsplit

from app.core.errors import GatewayError
from app.gateways.storage.local import LocalStorage
from app.gateways.storage.ports import Content, Damaged, Storage, Stored, pieces_of, read, read_verified, vetted
from app.settings import Settings

__all__ = [
    "Content",
    "Damaged",
    "LocalStorage",
    "Storage",
    "Stored",
    "build_storage",
    "pieces_of",
    "probe",
    "read",
    "read_verified",
    "vetted",
]


def build_storage(settings: Settings) -> Storage:
    """The storage that ``STORAGE_URL`` names: ``s3://bucket/prefix``, or a directory."""
    url = settings.storage_url
    if url.startswith("s3://"):
        from app.gateways.storage.s3 import S3Storage  # boto3 takes a third of a second to load

        parts = urlsplit(url)
        return S3Storage(parts.netloc, parts.path, endpoint=settings.s3_endpoint_url or None)
    return LocalStorage(url.removeprefix("file://"))


def probe(storage: Storage) -> None:
    """Write, read and delete one small file. Raises GatewayError if the storage does not work as it should."""
    key, content = f"probe/{uuid.uuid4().hex}", uuid.uuid4().bytes
    stored = storage.put(key, content)
    try:
        if read_verified(storage, key, sha256=stored.sha256) != content:
            raise GatewayError("the storage returns different bytes than were stored", retryable=False)
    finally:
        storage.delete(key)
