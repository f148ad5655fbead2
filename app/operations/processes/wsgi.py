"""What a WSGI server imports."""

import os

from app import create_app
from app.core import data_dir, memory
from app.settings import Settings

os.umask(data_dir.UMASK)
settings = Settings.from_env(os.environ)
data_dir.close_to_others(settings.data_dir)
app = create_app(settings)
memory.keep_all()
