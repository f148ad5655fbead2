import os
import shutil
import subprocess
import tempfile
from pathlib import Path

# ruleid: parser-in-the-wrong-process
import av
# ruleid: parser-in-the-wrong-process
from pypdf import PdfReader
# ruleid: parser-in-the-wrong-process
from PIL import Image
# ok: parser-in-the-wrong-process
from app.interviews.recordings import video
from rq import Queue, Worker
from rq.serializers import JSONSerializer


def child(program, content):
    # ruleid: child-inherits-environment
    subprocess.run([program], input=content, timeout=5)
    # ruleid: child-inherits-environment
    subprocess.Popen([program])
    # ok: child-inherits-environment
    subprocess.run([program], input=content, timeout=5, env={})
    # ruleid: whole-environment-handed-on
    subprocess.Popen([program], env={**os.environ, "A": "1"})
    # ruleid: whole-environment-handed-on
    subprocess.Popen([program], env=os.environ.copy())
    # ok: whole-environment-handed-on
    subprocess.Popen([program], env={"PATH": os.environ["PATH"]})
    # ruleid: child-waits-for-ever
    subprocess.run([program], env={})
    # ok: child-waits-for-ever
    subprocess.run([program], env={}, timeout=60)


def queues(redis):
    # ruleid: queue-carries-pickles
    one = Queue("short", connection=redis)
    # ruleid: queue-carries-pickles
    two = Worker([one], connection=redis, serializer="pickle")
    # ok: queue-carries-pickles
    three = Queue("short", connection=redis, serializer=JSONSerializer)
    return one, two, three


def unpacked(archive, member, folder):
    # ruleid: archive-unpacked-whole
    archive.extractall(folder)
    # ruleid: archive-unpacked-whole
    archive.extract(member, folder)
    # ruleid: archive-unpacked-whole
    shutil.unpack_archive(archive, folder)
    # ok: archive-unpacked-whole
    archive.read(member)


def named(number):
    # ruleid: guessable-temporary-name
    one = tempfile.mktemp()
    # ruleid: guessable-temporary-name
    two = Path(tempfile.gettempdir()) / f"parley-{number}"
    # ok: guessable-temporary-name
    three = tempfile.TemporaryDirectory(prefix="parley-")
    return one, two, three


def shared(path):
    # ruleid: open-to-everyone
    os.chmod(path, 0o666)
    # ruleid: open-to-everyone
    path.chmod(0o777)
    # ok: open-to-everyone
    path.chmod(0o600)


def received(connection, sock):
    # ruleid: unpickles-what-it-receives
    one = connection.recv()
    # ok: unpickles-what-it-receives
    two = connection.recv_bytes()
    # ok: unpickles-what-it-receives
    three = sock.recv(4096)
    return one, two, three
