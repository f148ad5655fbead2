"""URL rules that prepare to build addresses only when the first one is built.

Werkzeug writes and compiles two functions for each rule when it is added. For all pages together that took a fifth of
the CPU of a start, and a process builds the addresses of few of them.
"""

from collections.abc import Callable
from typing import Any

from werkzeug.routing import Rule

_Build = Callable[..., tuple[str, str]]


class LazyRule(Rule):
    """Werkzeug's rule, with the two functions compiled at their first call."""

    def _compile_builder(self, append_unknown: bool = True) -> _Build:  # noqa: FBT001, FBT002 - as werkzeug calls it
        compile_builder, compiled = super()._compile_builder, list[_Build]()

        def build(rule: Rule, /, **values: Any) -> tuple[str, str]:
            if not compiled:
                compiled.append(compile_builder(append_unknown))
            return compiled[0](rule, **values)

        return build
