from django.db import migrations, models


def set_prices(apps, schema):
    for book in apps.get_model("shop", "Book").objects.all():
        book.price = (book.data.get("pages") or 0) // 10
        book.save(update_fields=["price"])


class Migration(migrations.Migration):
    """Each of these rebuilds a table in SQLite, but the last."""

    dependencies = [("shop", "0001_initial")]
    operations = [
        migrations.AddField("Author", "country", models.CharField(max_length=2, default="no")),
        migrations.AlterField("Author", "name", models.CharField(max_length=300)),
        migrations.AddField("Book", "price", models.IntegerField(null=True)),
        migrations.RunPython(set_prices, migrations.RunPython.noop),
        migrations.CreateModel(
            "Review",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("book", models.ForeignKey("shop.Book", on_delete=models.CASCADE)),
                ("text", models.TextField()),
            ]),
    ]
