"""Models of speech engines: what there is (``manifest``), what is here (``ModelStore``), fetching (``fetching``).

Reading what is here loads neither a network library nor an engine.
"""

from app.gateways.speech.model_files.store import ModelStore

__all__ = ["ModelStore"]
