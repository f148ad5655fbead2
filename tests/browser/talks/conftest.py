"""One page for all talks of a module: the theatre prepares it once."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def page(chromium: Any) -> Iterator[Any]:
    page = chromium.new_page()
    yield page
    page.close()
