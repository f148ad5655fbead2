"""What else recruiters do with a flow; the views hang on the blueprint of ``pages``."""

from flask import flash, redirect, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_recruiter
from app.core.db import db
from app.core.errors import GatewayError
from app.flows import actions, media
from app.flows.pages import pages
from app.flows.queries import flow_to_change


@pages.post("/flows/<flow_id>/duplicate")
def duplicate(flow_id: str) -> AnyResponse:
    """A copy of the flow, an archived one too, to be changed at once."""
    require_recruiter()
    flow, storage = flow_to_change(current_member(), flow_id), gateways.current().storage
    source = media.Kept(flow.logo_key, flow.preamble_video_key, flow.preamble_video_type)
    db.session.commit()  # ends the read: copying files is slow
    try:
        with media.copied(source, storage=storage) as kept:
            try:
                copy_id = actions.duplicate(flow, kept=kept, by=current_member()).id
                db.session.commit()
            except BaseException:
                db.session.rollback()  # before the files are deleted again
                raise
    except GatewayError:
        flash("The logo or the video could not be copied at this moment. Nothing was changed; please try again.", "bad")
        return redirect(url_for("flows.show", flow_id=flow_id), 303)
    flash(f"This is a copy of “{flow.title}”, open and without interviews. Change what is to be different.", "good")
    return redirect(url_for("flows.edit", flow_id=copy_id), 303)
