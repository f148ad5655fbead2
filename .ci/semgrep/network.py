import asyncio
import smtplib
import socket
import ssl

# ruleid: client-outside-its-room
import requests
# ruleid: client-outside-its-room
import aiohttp
# ruleid: client-outside-its-room
import urllib.request
# ruleid: client-outside-its-room
from httpx import Client
# ruleid: client-outside-its-room
from http.client import HTTPSConnection
# ruleid: client-outside-its-room
from http import client
# ruleid: client-outside-its-room
import urllib3.util as pools
# ruleid: client-outside-its-room
from aiohttp.client_proto.parts import ResponseHandler
# ok: client-outside-its-room
from urllib.parse import urlsplit
# ok: client-outside-its-room
from http import HTTPStatus
# ok: client-outside-its-room
from app.gateways.outbound.client import Sender


def called(host, loop, context):
    # ruleid: connection-outside-its-room
    socket.create_connection((host, 443))
    # ruleid: connection-outside-its-room
    asyncio.open_connection(host, 443)
    # ruleid: connection-outside-its-room
    smtplib.SMTP(host)
    # ok: connection-outside-its-room
    socket.socketpair()
    # ruleid: redirects-followed
    requests.get(host, allow_redirects=True)
    # ruleid: redirects-followed
    Client(follow_redirects=True)
    # ok: redirects-followed
    requests.get(host, allow_redirects=False)


def looked_away(context, session, url):
    # ruleid: tls-weakened
    context.check_hostname = False
    # ruleid: tls-weakened
    context.verify_mode = ssl.CERT_NONE
    # ruleid: tls-weakened
    session.get(url, ssl=False)
    # ruleid: tls-weakened
    bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # ruleid: tls-weakened
    context.minimum_version = ssl.TLSVersion.TLSv1_1
    # ok: tls-weakened
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # ok: tls-weakened
    good = ssl.create_default_context()
    return bare, good
