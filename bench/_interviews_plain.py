"""The list of interviews as it is usually written: a row per word, and a marshmallow dump per request.

Kept only for comparison: ``bench/interviews.py`` prints its cost next to that of the product's spliced bytes.
"""

import marshmallow as ma
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, selectinload


class Base(DeclarativeBase):
    """Tables of this comparison."""


class PlainInterview(Base):
    __tablename__ = "plain_interview"
    id: Mapped[int] = mapped_column(primary_key=True)
    summary: Mapped[str]
    transcript: Mapped[str]
    segments: Mapped[list["PlainSegment"]] = relationship(order_by="PlainSegment.id")
    mappings: Mapped[list["PlainMapping"]] = relationship(order_by="PlainMapping.id")


class PlainSegment(Base):
    __tablename__ = "plain_segment"
    id: Mapped[int] = mapped_column(primary_key=True)
    interview_id: Mapped[int] = mapped_column(sa.ForeignKey("plain_interview.id"), index=True)
    role: Mapped[str]
    content: Mapped[str]
    words: Mapped[list["PlainWord"]] = relationship(order_by="PlainWord.id")


class PlainWord(Base):
    __tablename__ = "plain_word"
    id: Mapped[int] = mapped_column(primary_key=True)
    segment_id: Mapped[int] = mapped_column(sa.ForeignKey("plain_segment.id"), index=True)
    word: Mapped[str]
    start: Mapped[float]
    end: Mapped[float]


class PlainMapping(Base):
    __tablename__ = "plain_mapping"
    id: Mapped[int] = mapped_column(primary_key=True)
    interview_id: Mapped[int] = mapped_column(sa.ForeignKey("plain_interview.id"), index=True)
    script_question: Mapped[str]
    start_timestamp: Mapped[float]
    end_timestamp: Mapped[float]
    transcript_item_indices: Mapped[list[int]] = mapped_column(sa.JSON)
    transcript_items: Mapped[list[dict[str, str]]] = mapped_column(sa.JSON)


class WordSchema(ma.Schema):
    word = ma.fields.String()
    start = ma.fields.Float()
    end = ma.fields.Float()


class SegmentSchema(ma.Schema):
    content = ma.fields.String()
    role = ma.fields.String()
    words = ma.fields.List(ma.fields.Nested(WordSchema))


class ItemSchema(ma.Schema):
    content = ma.fields.String()
    role = ma.fields.String()


class MappingSchema(ma.Schema):
    script_question = ma.fields.String()
    transcript_item_indices = ma.fields.List(ma.fields.Integer())
    start_timestamp = ma.fields.Float()
    end_timestamp = ma.fields.Float()
    transcript_items = ma.fields.List(ma.fields.Nested(ItemSchema))


class InterviewSchema(ma.Schema):
    summary = ma.fields.String()
    transcript = ma.fields.String()
    transcript_with_timestamp = ma.fields.List(ma.fields.Nested(SegmentSchema), attribute="segments")
    questions_to_transcript_mapping = ma.fields.List(ma.fields.Nested(MappingSchema), attribute="mappings")


def fill(engine: sa.Engine, results: list[dict]) -> None:
    """Write the results (as ``/v1`` sends them) as rows."""
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        for found in results:
            interview = PlainInterview(summary="A summary.", transcript=found["transcript"])
            for item in found["transcript_with_timestamp"]:
                words = [PlainWord(**word) for word in item["words"]]
                interview.segments.append(PlainSegment(role=item["role"], content=item["content"], words=words))
            interview.mappings = [PlainMapping(**item) for item in found["questions_to_transcript_mapping"]]
            session.add(interview)
        session.commit()


def answer(engine: sa.Engine, limit: int) -> bytes:
    """One request: load the rows, dump them, write JSON."""
    import json

    with Session(engine) as session:
        together = selectinload(PlainInterview.segments).selectinload(PlainSegment.words)
        query = sa.select(PlainInterview).options(together, selectinload(PlainInterview.mappings)).limit(limit)
        found = session.scalars(query.order_by(PlainInterview.id.desc())).all()
        return json.dumps({"interviews": InterviewSchema(many=True).dump(found)}).encode()
