"""Which addresses may be called: an explicit list, because ``ipaddress.is_global`` is true for multicast and others.

(Security design, section 7: deny list, and rules 7 and 8.)
"""

import ipaddress
import socket
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit

from app.gateways.outbound.target import Address
from app.settings import Settings
from app.settings.values import Network

REFUSED_V4 = tuple(
    ipaddress.IPv4Network(net)
    for net in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
ALLOWED_V6 = ipaddress.IPv6Network("2000::/3")
REFUSED_V6 = tuple(
    ipaddress.IPv6Network(net)
    for net in (
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "2620:4f:8000::/48",
    )
)
NEVER = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "169.254.169.254",
        "fd00:ec2::254",
        "168.63.129.16",
        "169.254.170.2",
        "100.100.100.200",
        "192.0.0.192",
    )
)
"""Addresses where clouds answer with credentials. No exemption applies to them."""
LOOPBACK: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether the deny list allows this address."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in net for net in REFUSED_V4)
    return address in ALLOWED_V6 and not any(address in net for net in REFUSED_V6)


def listens_locally(settings: Settings) -> bool:
    """Whether only this machine can reach the platform, directly or through a proxy."""
    return _is_loopback(settings.host) and _is_loopback(urlsplit(settings.app_url).hostname or "")


class Guard:
    """Decides on one address at a time, by the settings."""

    def __init__(self, settings: Settings) -> None:
        self.loopback_allowed = listens_locally(settings)
        self._exempt = settings.outbound_allow + (LOOPBACK if self.loopback_allowed else ())

    def refusal(self, text: str) -> str | None:
        """Why this address (in the form of ``getaddrinfo`` and ``getpeername``) may not be called; None if it may."""
        return _standing(text, self._exempt)


@lru_cache(maxsize=8192)
def _standing(text: str, exempt: tuple[Network, ...]) -> str | None:
    """As ``refusal``, by the lists, which never change while a process runs."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "it cannot be read"
    if _inner(address) in NEVER:
        return "it belongs to a cloud platform"
    if is_public(address) or any(address in net for net in exempt):
        return None
    return "it is private, reserved or not routable, and OUTBOUND_ALLOW does not name its network"


@lru_cache(maxsize=8192)
def seems_public(text: str) -> bool:
    """Whether a valid address is public: only then can it be the platform's own."""
    return is_public(ipaddress.ip_address(text))


def is_ours(address: Address) -> bool:
    """Whether the address belongs to this machine: the kernel would send from it. Sends nothing."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((str(address), 9))
        return ipaddress.ip_address(str(probe.getsockname()[0]).partition("%")[0]) == address
    return False


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address embeds, so that no notation hides it."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    packed = address.packed
    if address.ipv4_mapped or address in _NAT64 or packed[:12] in {bytes(12), bytes(8) + b"\xff\xff\x00\x00"}:
        return ipaddress.IPv4Address(packed[12:])
    return address.sixtofour or address


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False
