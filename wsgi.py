"""What a WSGI server imports."""

import os

from app import create_app, private
from app.settings import Settings

os.umask(private.UMASK)
settings = Settings.from_env(os.environ)
private.close_to_others(settings.data_dir)
app = create_app(settings)
