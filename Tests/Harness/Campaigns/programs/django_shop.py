"""Django: its own applications (auth, admin, sessions) and a shop with a JSONField and a many-to-many relation."""

import os
import sys
from pathlib import Path

import program

STEP = program.Step(sys.argv[1:7])
os.environ["SHOP_VERSION"] = str(STEP.version)
sys.path.insert(0, str(Path(__file__).parent))

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="not secret", ROOT_URLCONF="django_shop", ALLOWED_HOSTS=["*"], USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3", "NAME": STEP.path,
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
        }
    },
    INSTALLED_APPS=[
        "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
        "django.contrib.messages", "shop",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ])
django.setup()

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import path
from shop.models import Author, Book, Tag

sys.modules.setdefault("django_shop", sys.modules[__name__])
for model in (Author, Book, Tag):
    admin.site.register(model)
urlpatterns = [path("admin/", admin.site.urls)]


def create(step):
    call_command("migrate", "shop", "0001", verbosity=0)
    call_command("migrate", "auth", verbosity=0)
    call_command("migrate", "admin", verbosity=0)
    call_command("migrate", "sessions", verbosity=0)
    User.objects.create_superuser("root", password="root")
    Group.objects.create(name="staff").permissions.set(Permission.objects.all()[:3])
    for number in range(8):
        author = Author.objects.create(name=f"author {number}")
        for _ in range(3):
            Book.objects.create(author=author, title=step.words(), data={"pages": step.rng.randint(1, 900)})
    for number in range(4):
        Tag.objects.create(name=f"tag {number}")


def upgrade(step):
    call_command("migrate", verbosity=0)


def write(step):
    client = Client()
    client.force_login(User.objects.get(username="root"))

    def add():
        author = step.some(Author.objects.all())
        if author is None:
            return False
        book = Book.objects.create(author=author, title=step.words(), data={"side": step.side, "list": [1, None, 2.5]})
        book.tags.set(Tag.objects.all()[: step.rng.randint(0, 3)])

    def author():
        Author.objects.create(name=step.words(3))

    def edit():
        book = step.some(Book.objects.all())
        if book is None:
            return False
        book.data = {**book.data, "pages": step.rng.randint(1, 900), step.side: step.word()}
        if step.rng.random() < 0.5:
            book.title = step.words()
        if step.version > 1:
            book.price = step.rng.randint(1, 99)
        book.save()

    def query():
        Book.objects.filter(data__pages__gt=500).update(title=step.words())

    def tag():
        found = step.some(Tag.objects.all())
        if found is None:
            return False
        found.name = step.key()
        found.save()

    def rename():
        author = step.some(Author.objects.all())
        if author is None:
            return False
        author.name = step.words(3)
        author.save()

    def delete_book():
        book = step.some(Book.objects.all())
        return False if book is None else bool(book.delete())

    def delete_author():
        author = step.some(Author.objects.all())
        return False if author is None else bool(author.delete())

    def user():
        User.objects.create_user(step.key()[:20], password="x").groups.add(*Group.objects.all())

    def log_in():
        Client().force_login(step.some(User.objects.all()))

    def in_admin():
        answer = client.post("/admin/shop/author/add/", {"name": step.words(3), "country": "no"})
        assert answer.status_code == 302, answer.content

    def atomic(action):
        def run():
            with transaction.atomic():
                return action()

        return run

    return step.repeat({
        "books added": (6, atomic(add)), "authors added": (2, atomic(author)), "books edited": (6, atomic(edit)),
        "JSON queries": (1, atomic(query)), "authors renamed": (3, atomic(rename)),
        "tags renamed": (2, atomic(tag)), "books deleted": (2, atomic(delete_book)), "authors deleted": (1, atomic(delete_author)),
        "users added": (1, atomic(user)), "logins": (1, atomic(log_in)), "admin forms": (2, in_admin),
    })


def check(step):
    call_command("check", verbosity=0)
    client = Client()
    client.force_login(User.objects.get(username="root"))
    for page in ("author", "book", "tag"):
        assert client.get(f"/admin/shop/{page}/").status_code == 200
    assert all(book.author.name and isinstance(book.data, dict) for book in Book.objects.select_related("author"))
    assert not Tag.objects.filter(name__contains="* *").exists(), "a migration ran twice"
    # Not sessions: this step itself has just made one.
    counts = [model.objects.count() for model in (Author, Book, Tag, User, LogEntry)]
    return {"rows": sum(counts), "titles": sorted(Book.objects.values_list("title", flat=True))}


if __name__ == "__main__":
    program.main(globals())
