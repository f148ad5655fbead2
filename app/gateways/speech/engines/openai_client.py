"""The `openai` package as a client of any server that speaks its protocol, with our rules about time and failure."""

from collections.abc import Callable
from typing import Any, TypeVar

import openai

from app.core.errors import GatewayError
from app.gateways.speech.engines.remote import CONNECT_SECONDS, Slow, refused, with_retries

Answer = TypeVar("Answer")
Hook = Callable[[Any], None]
"""Gets each HTTP request before it is sent."""


class OpenAiServer:
    """One base URL with its key; every failure leaves it as GatewayError."""

    def __init__(
        self,
        server: str,
        address: str,
        *,
        api_key: str,
        timeout: float,
        on_request: Hook | None = None,
    ) -> None:
        self._server = server
        self._timeout = timeout
        self.client = openai.OpenAI(
            base_url=address,
            api_key=api_key or "none",  # servers without keys ignore it, the package insists on one
            timeout=openai.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
            http_client=openai.DefaultHttpxClient(event_hooks={"request": [on_request]}) if on_request else None,
            max_retries=0,  # ours: theirs would wait as long as the server asks
        )

    def ask(self, call: Callable[[], Answer]) -> Answer:
        """Run one call of `client`, once more where the failure may pass."""
        return with_retries(lambda: self._once(call))

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _once(self, call: Callable[[], Answer]) -> Answer:
        try:
            return call()
        except openai.APITimeoutError as error:
            raise Slow(f"{self._server} did not respond within {self._timeout:g} s") from error
        except openai.APIConnectionError as error:
            raise GatewayError(f"{self._server} cannot be reached", retryable=True) from error
        except openai.APIStatusError as error:
            raise refused(self._server, error.status_code) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            # the package hands on whatever JSON came; reading it is part of `call`
            raise GatewayError(f"{self._server} sent an unreadable response", retryable=True) from error
