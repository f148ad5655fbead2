"""Parses a customer's URL once, strictly. Check and use share the result.

Only URLs that every parser reads the same way are accepted: a dotted name, a canonical dotted quad or a bracketed IPv6
address as the host; no user, fragment, backslash, white space or control character. (Security design, section 7,
rules 1 and 2.)
"""

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache

import idna

from app.core.errors import Rejected

LONGEST = 2_048
STANDARD_PORTS = {"http": 80, "https": 443}
REFUSED_PORTS = frozenset(
    {
        1433,
        1434,
        1521,
        1719,
        1720,
        1723,
        2049,
        2181,
        2375,
        2376,
        2379,
        2380,
        3306,
        3389,
        3659,
        4045,
        4190,
        5060,
        5061,
        5432,
        5672,
        5900,
        5984,
        6000,
        6379,
        6380,
        6443,
        6566,
        *range(6665, 6670),
        6679,
        6697,
        9042,
        9092,
        9200,
        9300,
        10080,
        10250,
        10255,
        11211,
        27017,
        27018,
        27019,
        50070,
    }
)
"""Ports from 1024 on where databases, caches, clusters and chat servers listen: an HTTP request could harm these."""

_WHOLE = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<host>\[[^\[\]/?#@\\]*\]|[^\[\]/?#@:\\]*)(?::(?P<port>[^/?#@]*))?"
    r"(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?"
)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
_QUAD = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of one URL. ``host`` is lower-case ASCII without brackets; ``literal`` is set if it is an IP."""

    scheme: str
    host: str
    port: int
    path: str
    literal: Address | None

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == STANDARD_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL, as it is used."""
        return f"{self.scheme}://{self.authority}{self.path}"


@lru_cache(maxsize=4096)
def read(url: str, *, http_allowed: bool, local_names: bool = False) -> Target:
    """Parse ``url``. Raises Rejected with the reason. ``local_names`` allows the name ``localhost``."""
    if len(url) > LONGEST:
        raise Rejected(f"The URL has {len(url)} characters. The maximum is {LONGEST}.")
    if any(not "!" <= sign <= "~" for sign in url if sign.isascii()) or "\\" in url:
        raise Rejected("The URL must not contain white space, control characters or backslashes.")
    if "#" in url:
        raise Rejected("The URL must not have a fragment (#…).")
    parts = _WHOLE.fullmatch(url)
    if parts is None:
        raise Rejected("The URL must be complete, such as https://example.com/hook, without a user name or password.")
    scheme = _scheme(parts["scheme"], http_allowed=http_allowed)
    host, literal = _host(parts["host"], local_names=local_names)
    path = (parts["path"] or "/") + (parts["query"] or "")
    if not path.isascii():
        raise Rejected("The path of the URL must be ASCII. Write other characters percent-encoded.")
    return Target(scheme, host, _port(parts["port"], scheme), path, literal)


def _scheme(text: str, *, http_allowed: bool) -> str:
    scheme = text.lower()
    if scheme == "https" or (scheme == "http" and http_allowed):
        return scheme
    if scheme == "http":
        raise Rejected("The URL must begin with https://. The operator can allow http:// with OUTBOUND_HTTP.")
    raise Rejected(
        "The URL must begin with https:// or http://." if http_allowed else "The URL must begin with https://."
    )


def _port(text: str | None, scheme: str) -> int:
    if text is None:
        return STANDARD_PORTS[scheme]
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text):
        raise Rejected("The port of the URL must be a number without leading zeros.")
    port = int(text)
    if port in REFUSED_PORTS:
        words = f"Port {port} is not allowed, because other services than web servers use it."
        raise Rejected(f"{words} Use 80, 443 or another port from 1024 to 65535.")
    if port not in {80, 443} and not 1024 <= port <= 65_535:
        raise Rejected(f"Port {port} is not allowed. Use 80, 443 or a port from 1024 to 65535.")
    return port


def _host(name: str, *, local_names: bool) -> tuple[str, Address | None]:
    if name.startswith("["):
        return _bracketed(name[1:-1])
    name = _ascii(name)
    if _QUAD.fullmatch(name):
        return _quad(name)
    if name == "localhost":
        if local_names:
            return name, None
        words = "The name localhost is allowed only while HOST and APP_URL are local."
        raise Rejected(f"{words} Write an IP address, whose network the operator can allow with OUTBOUND_ALLOW.")
    labels = name.split(".")
    if len(name) > 253 or len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Rejected("The host of the URL must be a full name such as example.com, or an IP address.")
    if _NUMERIC.fullmatch(labels[-1]):
        raise Rejected("The host of the URL looks like a number. Write an IPv4 address as four decimal numbers.")
    return name, None


def _ascii(name: str) -> str:
    if name.isascii():
        return name.lower()
    try:
        return idna.encode(name.lower(), strict=True, std3_rules=True).decode()
    except idna.IDNAError:
        raise Rejected("The host of the URL is not a valid international name.") from None


def _quad(name: str) -> tuple[str, Address]:
    try:
        literal = ipaddress.IPv4Address(name)
    except ValueError:
        raise Rejected("The IPv4 address must be written as four decimal numbers up to 255.") from None
    return str(literal), literal


def _bracketed(text: str) -> tuple[str, Address]:
    try:
        literal = ipaddress.IPv6Address(text)
    except ValueError:
        raise Rejected("The IPv6 address is not valid.") from None
    if literal.scope_id is not None:
        raise Rejected("An IPv6 address must not name a network interface (%…).")
    return str(literal), literal
