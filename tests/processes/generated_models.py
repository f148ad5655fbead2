"""``python -m tests.processes.generated_models up``: the command, with a manifest of one generated model.

Its publisher is at the address in the variable PUBLISHER.
"""

import os

from app.gateways.speech.model_files import manifest
from app.operations.cli import main
from tests.speech.model_sources import models

manifest.MODELS = models(os.environ["PUBLISHER"], name="whisper-base")
main()
