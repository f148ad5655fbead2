"""What the commands run: ``parley web``, ``parley worker`` and, on one host, ``parley up``."""

from app.operations.processes.speech import CannotServe, run_speech
from app.operations.processes.up import run_up
from app.operations.processes.web import PortTaken, check_port, run_web
from app.operations.processes.worker import run_worker

__all__ = ["CannotServe", "PortTaken", "check_port", "run_speech", "run_up", "run_web", "run_worker"]
