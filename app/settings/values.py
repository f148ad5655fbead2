"""How values of settings are read: each function parses a string, or raises a ValueError that says what it must be."""

import ipaddress
import json
from collections.abc import Callable
from urllib.parse import urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SHORTEST_TOKEN = 16


def text(value: str) -> str:
    return value


def boolean(value: str) -> bool:
    lowered = value.strip().lower()
    if lowered in {"1", "true", "yes", "on"}:
        return True
    if lowered in {"0", "false", "no", "off"}:
        return False
    raise ValueError("must be on or off (or 1/true/yes, 0/false/no)")


def number(lowest: int, highest: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError("must be a whole number") from None
        if not lowest <= number <= highest:
            raise ValueError(f"must be between {lowest} and {highest}")
        return number

    return parse


def seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        raise ValueError("must be a number of seconds") from None
    if not 0 < seconds <= 3600:
        raise ValueError("must be more than 0 and at most 3600 seconds")
    return seconds


def words(value: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in value.split(",") if word.strip())


def one_of(*allowed: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return value

    return parse


def engines(*allowed: str) -> Callable[[str], tuple[str, ...]]:
    def parse(value: str) -> tuple[str, ...]:
        names = words(value)
        unknown = [name for name in names if name not in allowed]
        if unknown or not names:
            raise ValueError(f"must be a comma-separated list of: {', '.join(allowed)}")
        return names

    return parse


def networks(value: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(word) for word in words(value))
    except ValueError:
        raise ValueError("must be a comma-separated list of networks such as 10.1.0.0/16") from None


def address(value: str) -> str:
    if urlsplit(value).scheme not in {"http", "https"} or not urlsplit(value).hostname:
        raise ValueError("must be a full URL such as https://parley.example.com")
    return value.rstrip("/")


def address_and_port(value: str) -> str:
    host, _, port = value.strip().rpartition(":")
    is_name = bool(host) and (host.startswith("[") == (":" in host)) and not set(host) & set("/@ ")
    if not is_name or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise ValueError("must be an address and a port, such as 127.0.0.1:8700 or [::1]:8700")
    return f"{host}:{int(port)}"


def hosts(value: str) -> tuple[str, ...]:
    names = tuple(name.lower() for name in words(value))
    try:
        wrong = [name for name in names if " " in name or urlsplit(f"//{name}").hostname != name.strip("[]")]
    except ValueError:
        wrong = list(names)
    if wrong:
        raise ValueError(
            "must be a comma-separated list of host names without port or path, such as parley.example.com"
        )
    return tuple(name.strip("[]") for name in names)


def token(value: str) -> str:
    if len(value) < SHORTEST_TOKEN or not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError(f"must be at least {SHORTEST_TOKEN} printable ASCII characters, without spaces")
    return value


def mapping(value: str) -> dict[str, str]:
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict) or not all(isinstance(item, str) for item in parsed.values()):
        raise ValueError('must be a JSON object whose values are strings, for example {"vendora-Kate": "alloy"}')
    return parsed
