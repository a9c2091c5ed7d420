from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "Author",
            [("id", models.BigAutoField(primary_key=True, serialize=False)), ("name", models.CharField(max_length=200))]),
        migrations.CreateModel(
            "Tag",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=50, unique=True)),
            ]),
        migrations.CreateModel(
            "Book",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("author", models.ForeignKey("shop.Author", on_delete=models.CASCADE)),
                ("title", models.CharField(max_length=400)),
                ("data", models.JSONField(default=dict)),
                ("tags", models.ManyToManyField("shop.Tag")),
            ]),
    ]
