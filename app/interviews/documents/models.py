"""Tables of the documents that candidates add."""

import enum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref, one_of


class TextState(enum.StrEnum):
    """Progress of reading a document's text. ``none``: it has no text (a picture, an empty page)."""

    PENDING = "pending"
    READING = "reading"
    EXTRACTED = "extracted"
    NONE = "none"
    FAILED = "failed"


class Document(Claimable, Base):
    """A file that a candidate added. The name is a label, never a path.

    ``text`` is the extracted text (claimed by ``text_state``), ``text_whole`` whether that is all of it.
    """

    __tablename__ = "document"
    __table_args__ = (sa.Index("ix_document_text", "text_state", "lease_until"),)

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    name: Mapped[str] = mapped_column(sa.String(255))
    content_type: Mapped[str] = mapped_column(sa.String(100))
    size: Mapped[int]
    storage_key: Mapped[str] = mapped_column(sa.String(200))
    text_state: Mapped[TextState] = mapped_column(one_of(TextState), default=TextState.PENDING)
    text: Mapped[str | None] = mapped_column(sa.Text, deferred=True)
    text_whole: Mapped[bool] = mapped_column(default=True)
    text_failure: Mapped[str | None] = mapped_column(sa.String(300))
    created_at: Mapped[CreatedAt]


class DocumentUpload(Base):
    """A file being uploaded in parts: ``sha256`` and ``size`` of the whole. ``document_id`` once it is complete."""

    __tablename__ = "document_upload"
    __table_args__ = (
        sa.UniqueConstraint("interview_id", "sha256"),
        sa.Index("ix_document_upload_touched", "touched_at"),
    )

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    sha256: Mapped[str] = mapped_column(sa.String(64))
    size: Mapped[int]
    name: Mapped[str] = mapped_column(sa.String(255))
    document_id: Mapped[str | None] = mapped_column(sa.String(36))
    touched_at: Mapped[CreatedAt]


class DocumentPart(Base):
    """A part of a file being uploaded, durable under ``storage_key``."""

    __tablename__ = "document_part"

    upload_id: Mapped[Ref] = mapped_column(sa.ForeignKey("document_upload.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sha256: Mapped[str] = mapped_column(sa.String(64))
    storage_key: Mapped[str] = mapped_column(sa.String(200))
