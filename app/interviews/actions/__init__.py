"""Changes to an interview. Nothing here commits or waits; slow work happens before, on plain values."""

from app.interviews.actions.candidate_rights import erase, withdraw
from app.interviews.actions.documents import (
    accept_document,
    add_document,
    read_again,
    remove_document,
    room_for_document,
)
from app.interviews.actions.feedback import rate
from app.interviews.actions.lifecycle import (
    abandon,
    begin,
    book,
    book_without_row,
    cancel,
    count_model,
    decline,
    may_begin,
    retry,
    submit,
)
from app.interviews.actions.metadata import set_metadata
from app.interviews.actions.outcomes import (
    Finished,
    complete,
    fail,
    look_again_later,
    park,
    park_video,
    video_failed,
    video_ready,
    wait_for_recognition,
)
from app.interviews.actions.result import result_of
from app.interviews.actions.revocation import revoke_recordings, revoke_without_row, video_revoked
from app.interviews.actions.uploads import (
    PART_BYTES,
    begin_upload,
    count_of,
    drop_upload,
    finish_upload,
    has_part,
    keep_part,
    part_size,
    whole,
)
from app.interviews.actions.versions import Made, adopt, forget_versions, keep_version

__all__ = [
    "PART_BYTES",
    "Finished",
    "Made",
    "abandon",
    "accept_document",
    "add_document",
    "adopt",
    "begin",
    "begin_upload",
    "book",
    "book_without_row",
    "cancel",
    "complete",
    "count_model",
    "count_of",
    "decline",
    "drop_upload",
    "erase",
    "fail",
    "finish_upload",
    "forget_versions",
    "has_part",
    "keep_part",
    "keep_version",
    "look_again_later",
    "may_begin",
    "park",
    "park_video",
    "part_size",
    "rate",
    "read_again",
    "remove_document",
    "result_of",
    "retry",
    "revoke_recordings",
    "revoke_without_row",
    "room_for_document",
    "set_metadata",
    "submit",
    "video_failed",
    "video_ready",
    "video_revoked",
    "wait_for_recognition",
    "whole",
    "withdraw",
]
