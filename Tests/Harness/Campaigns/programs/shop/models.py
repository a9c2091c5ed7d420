"""The models of the shop, in two versions."""

import os

from django.db import models

IS_NEW = os.environ["SHOP_VERSION"] != "1"


class Author(models.Model):
    name = models.CharField(max_length=200 if not IS_NEW else 300)
    if IS_NEW:
        country = models.CharField(max_length=2, default="no")

    class Meta:
        app_label = "shop"


class Tag(models.Model):
    name = models.CharField(max_length=50, unique=True)

    class Meta:
        app_label = "shop"


class Book(models.Model):
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    title = models.CharField(max_length=400)
    data = models.JSONField(default=dict)
    tags = models.ManyToManyField(Tag)
    if IS_NEW:
        price = models.IntegerField(null=True)

    class Meta:
        app_label = "shop"


if IS_NEW:

    class Review(models.Model):
        book = models.ForeignKey(Book, on_delete=models.CASCADE)
        text = models.TextField()

        class Meta:
            app_label = "shop"
