"""Settings of Django's own suite: a file that may be a replica with a daemon, in place of a database in memory.

`runtests.py --keepdb` leaves the file in its place, and makes its tables in it.
"""

import os

FILE = os.environ["SUITE_FILE"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3", "NAME": FILE, "TEST": {"NAME": FILE},
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 60},
    },
    "other": {"ENGINE": "django.db.backends.sqlite3"},
}
SECRET_KEY = "of the suite"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
