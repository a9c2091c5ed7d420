from alembic import context

connection = context.config.attributes["connection"]
context.configure(
    connection=connection, render_as_batch=True,
    include_name=lambda name, kind, parents: kind != "table" or not name.startswith("_journal"))
with context.begin_transaction():
    context.run_migrations()
connection.commit()
