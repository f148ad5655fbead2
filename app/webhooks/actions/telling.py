"""Announces that an endpoint has become worse: when it starts to fail, before it is disabled, when it is disabled."""

from app.core.rooms import notices
from app.webhooks.models import Endpoint, Trouble

WEBHOOK_FAILING = "webhook_failing"
"""The notice to administrators."""
_ORDER = [None, *(trouble.value for trouble in Trouble)]


def tell(endpoint: Endpoint, trouble: Trouble) -> None:
    """Announce ``trouble`` once per incident, and only if it is worse than what was announced before.

    ``told`` also keeps workers of the release before from sending their own mail about it during an upgrade.
    """
    if _ORDER.index(trouble.value) <= _ORDER.index(endpoint.told):
        return
    endpoint.told = trouble.value
    since = endpoint.failing_since or endpoint.disabled_at
    notices().announce(
        WEBHOOK_FAILING,
        organization_id=endpoint.organization_id,
        key=f"{WEBHOOK_FAILING} {endpoint.id} {trouble.value} {since:%Y-%m-%dT%H:%M:%S.%f}",
        endpoint_id=endpoint.id,
        step=trouble.value,
    )
