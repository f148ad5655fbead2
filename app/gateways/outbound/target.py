"""Reads a customer's address once, strictly; check and use share this one reading.

Only what every parser reads alike gets through: a dotted name, a canonical dotted quad or a bracketed IPv6 address as
the host; no user, fragment, backslash, white space or control character. (Security design, section 7, rules 1 and 2.)
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
"""Ports from 1024 on where databases, caches, clusters and chat servers listen, which an HTTP request could harm."""

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
    """One address, taken apart. ``host`` is lower-case ASCII without brackets; ``literal`` is set when it is an IP."""

    scheme: str
    host: str
    port: int
    path: str
    literal: Address | None

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == STANDARD_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address again, as it is used."""
        return f"{self.scheme}://{self.authority}{self.path}"


@lru_cache(maxsize=4096)
def read(url: str, *, http_allowed: bool, local_names: bool = False) -> Target:
    """Take ``url`` apart. Raises Rejected with the reason. ``local_names`` lets the name ``localhost`` through."""
    if len(url) > LONGEST:
        raise Rejected(f"The address has {len(url)} characters; {LONGEST} are allowed.")
    if any(not "!" <= sign <= "~" for sign in url if sign.isascii()) or "\\" in url:
        raise Rejected("The address may not hold white space, control characters or backslashes.")
    if "#" in url:
        raise Rejected("The address may not have a fragment (#…).")
    parts = _WHOLE.fullmatch(url)
    if parts is None:
        raise Rejected("The address must be a whole one such as https://example.com/hook, without user or password.")
    scheme = _scheme(parts["scheme"], http_allowed=http_allowed)
    host, literal = _host(parts["host"], local_names=local_names)
    path = (parts["path"] or "/") + (parts["query"] or "")
    if not path.isascii():
        raise Rejected("The path of the address must be ASCII; write other characters percent-encoded.")
    return Target(scheme, host, _port(parts["port"], scheme), path, literal)


def _scheme(given: str, *, http_allowed: bool) -> str:
    scheme = given.lower()
    if scheme == "https" or (scheme == "http" and http_allowed):
        return scheme
    if scheme == "http":
        raise Rejected("The address must begin with https://; http is not allowed on this server.")
    raise Rejected("The address must begin with https://.")


def _port(given: str | None, scheme: str) -> int:
    if given is None:
        return STANDARD_PORTS[scheme]
    if not re.fullmatch(r"[1-9][0-9]{0,4}", given):
        raise Rejected("The port of the address must be a number without leading zeros.")
    port = int(given)
    if port not in {80, 443} and not (1024 <= port <= 65_535 and port not in REFUSED_PORTS):
        raise Rejected(f"Port {port} is not allowed; use 80, 443 or a free one from 1024 to 65535.")
    return port


def _host(given: str, *, local_names: bool) -> tuple[str, Address | None]:
    if given.startswith("["):
        return _bracketed(given[1:-1])
    name = _ascii(given)
    if _QUAD.fullmatch(name):
        return _quad(name)
    if name == "localhost" and local_names:
        return name, None
    labels = name.split(".")
    if len(name) > 253 or len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Rejected("The host of the address must be a full name such as example.com, or an IP address.")
    if _NUMERIC.fullmatch(labels[-1]):
        raise Rejected("The host of the address looks like a number; write an IPv4 address as four decimal numbers.")
    return name, None


def _ascii(given: str) -> str:
    if given.isascii():
        return given.lower()
    try:
        return idna.encode(given.lower(), strict=True, std3_rules=True).decode()
    except idna.IDNAError:
        raise Rejected("The host of the address is no valid international name.") from None


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
        raise Rejected("The IPv6 address cannot be read.") from None
    if literal.scope_id is not None:
        raise Rejected("An IPv6 address may not name a network interface (%…).")
    return str(literal), literal
