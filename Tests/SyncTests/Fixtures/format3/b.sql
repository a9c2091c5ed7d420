PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE person(id TEXT PRIMARY KEY NOT NULL, name TEXT, age INTEGER, email TEXT UNIQUE);
INSERT INTO person VALUES('1','Anne',32,'a@x');
INSERT INTO person VALUES('2','Bob',40,'b@x');
INSERT INTO person VALUES('4','Dan',1,'d@x');
INSERT INTO person VALUES('5','Eve',5,'e@x');
CREATE TABLE visit(id INTEGER PRIMARY KEY, person TEXT REFERENCES person(id), place TEXT);
INSERT INTO visit VALUES(1,'1','Oslo');
INSERT INTO visit VALUES(2,'2','Rome');
CREATE TABLE _journal_replica (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  format INTEGER NOT NULL,
  origin BLOB NOT NULL CHECK (length(origin) = 16),
  cluster TEXT NOT NULL,
  include TEXT,
  exclude TEXT NOT NULL DEFAULT '[]',
  schema_version INTEGER NOT NULL DEFAULT -1,
  sealed_seq INTEGER NOT NULL DEFAULT 0,
  sealed_stamp INTEGER NOT NULL DEFAULT 0,
  fingerprint TEXT,
  instance BLOB,
  checked_seq INTEGER NOT NULL DEFAULT 0,
  checked_keys TEXT,
  triggers INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO _journal_replica VALUES(1,3,X'090d1f69ef8c755f9ad5700a36392275','old',NULL,'["django_migrations","alembic_version","_yoyo_migration","_yoyo_log","_yoyo_version","yoyo_lock","migratehistory","schema_migrations","ar_internal_metadata","knex_migrations","knex_migrations_lock","_prisma_migrations","SequelizeMeta","__drizzle_migrations","kysely_migration","kysely_migration_lock","goose_db_version","atlas_schema_revisions","__diesel_schema_migrations","_sqlx_migrations","refinery_schema_history","flyway_schema_history","DATABASECHANGELOG","DATABASECHANGELOGLOCK","__EFMigrationsHistory","phinxlog","doctrine_migration_versions","grdb_migrations","_fluent_migrations"]',41,14,117687266375303168,NULL,NULL,0,'"visit" "1" -> "person" "id", held',1);
CREATE TABLE _journal (
  seq INTEGER PRIMARY KEY,
  origin, version, tx, shape, op, life, stamp, mask
, v0, v1, v2, v3);
INSERT INTO _journal VALUES(1,1,1,NULL,1,1,NULL,117687266330869760,NULL,'1','Ann',30,'a@x');
INSERT INTO _journal VALUES(2,1,2,NULL,1,1,NULL,117687266330869761,NULL,'2','Bob',40,'b@x');
INSERT INTO _journal VALUES(3,1,3,NULL,1,1,NULL,117687266330869762,NULL,'3','Cid',50,'c@x');
INSERT INTO _journal VALUES(4,1,4,NULL,2,1,NULL,117687266331262976,NULL,1,'1','Oslo',NULL);
INSERT INTO _journal VALUES(5,1,5,NULL,2,1,NULL,117687266331262977,NULL,2,'2','Rome',NULL);
INSERT INTO _journal VALUES(6,1,6,NULL,1,2,NULL,117687266331525120,4,'1',NULL,31,NULL);
INSERT INTO _journal VALUES(7,1,7,1,1,2,NULL,117687266331787264,4,'1',NULL,32,NULL);
INSERT INTO _journal VALUES(8,NULL,NULL,NULL,1,2,NULL,2461371.8191274306737,2,'1','Anne',NULL,NULL);
INSERT INTO _journal VALUES(9,NULL,NULL,NULL,1,2,NULL,2461371.8191275810822,2,'3','Cyd',NULL,NULL);
INSERT INTO _journal VALUES(10,NULL,NULL,1,1,1,NULL,2461371.8191276043652,NULL,'4','Dan',1,'d@x');
INSERT INTO _journal VALUES(11,1,8,NULL,1,2,NULL,117687266343976960,2,'1','Anna',NULL,NULL);
INSERT INTO _journal VALUES(12,1,9,1,1,3,2,117687266344239104,NULL,'3',NULL,NULL,NULL);
INSERT INTO _journal VALUES(13,NULL,NULL,1,1,1,NULL,2461371.8191315163857,NULL,'6','Eva',6,'e@x');
INSERT INTO _journal VALUES(14,1,10,1,1,1,NULL,117687266366586880,NULL,'5','Eve',5,'e@x');
CREATE TABLE _journal_tables (
  shape INTEGER PRIMARY KEY,
  tbl INTEGER NOT NULL,
  name TEXT NOT NULL,
  columns TEXT NOT NULL,
  key_count INTEGER NOT NULL CHECK (key_count > 0),
  collations TEXT NOT NULL,
  tracked INTEGER NOT NULL CHECK (tracked IN (0, 1)),
  joined TEXT,
  wire TEXT
) STRICT;
INSERT INTO _journal_tables VALUES(1,1,'person','["id","name","age","email"]',1,'["BINARY"]',1,'["id","name","age","email"]',NULL);
INSERT INTO _journal_tables VALUES(2,2,'visit','["id","person","place"]',1,'["BINARY"]',1,'["id","person","place"]',NULL);
CREATE TABLE _journal_names (
  old TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
  new TEXT NOT NULL UNIQUE COLLATE NOCASE
) STRICT, WITHOUT ROWID;
CREATE TABLE _journal_origins (
  id INTEGER PRIMARY KEY,
  origin BLOB NOT NULL UNIQUE CHECK (length(origin) = 16),
  version INTEGER NOT NULL DEFAULT 0,
  retired REAL
) STRICT;
INSERT INTO _journal_origins VALUES(0,X'090d1f69ef8c755f9ad5700a36392275',0,NULL);
INSERT INTO _journal_origins VALUES(1,X'fd2802f0c3fe01b12f723f1ca08d2856',10,NULL);
CREATE TABLE _journal_runs (
  first_seq INTEGER PRIMARY KEY,
  origin INTEGER NOT NULL REFERENCES _journal_origins(id),
  first_version INTEGER NOT NULL CHECK (first_version > 0),
  floor INTEGER NOT NULL,
  known BLOB NOT NULL
) STRICT;
INSERT INTO _journal_runs VALUES(1,1,1,0,X'');
INSERT INTO _journal_runs VALUES(8,0,1,117687266331787264,X'0107');
INSERT INTO _journal_runs VALUES(11,1,8,117687266353152000,X'');
INSERT INTO _journal_runs VALUES(13,0,4,117687266353152000,X'0109');
INSERT INTO _journal_runs VALUES(14,1,10,117687266375303168,X'0003');
INSERT INTO _journal_runs VALUES(15,0,5,117687266375303168,X'010a');
CREATE TABLE _journal_lives (
  tbl INTEGER NOT NULL,
  key BLOB NOT NULL,
  life INTEGER NOT NULL CHECK (life > 1),
  PRIMARY KEY (tbl, key)
) STRICT, WITHOUT ROWID;
INSERT INTO _journal_lives VALUES(1,X'03000000000000000133',2);
CREATE TABLE _journal_suspects (
  id INTEGER PRIMARY KEY,
  shape
, k0);
CREATE TABLE _journal_peers (
  url TEXT PRIMARY KEY,
  origin BLOB CHECK (origin IS NULL OR length(origin) = 16),
  confirmed BLOB NOT NULL DEFAULT x'',
  last_contact REAL,
  last_error TEXT,
  compared REAL,
  mismatch TEXT
) STRICT;
CREATE TABLE _journal_conflicts (
  id INTEGER PRIMARY KEY,
  tbl INTEGER NOT NULL,
  key BLOB NOT NULL,
  kind TEXT NOT NULL,
  columns TEXT NOT NULL,
  lost_origin INTEGER NOT NULL,
  lost_version INTEGER NOT NULL,
  lost_seq INTEGER NOT NULL,
  kept_seq INTEGER NOT NULL,
  kept_life INTEGER NOT NULL,
  kept_stamp INTEGER NOT NULL,
  kept_origin BLOB NOT NULL,
  time REAL NOT NULL,
  lost_stamp INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'open',
  closed REAL,
  UNIQUE (lost_origin, lost_version)
) STRICT;
INSERT INTO _journal_conflicts VALUES(1,1,X'03000000000000000131','update/update','["name"]',1,8,11,8,1,117687266352168960,X'090d1f69ef8c755f9ad5700a36392275',1795765172.7999999523,117687266343976960,'open',NULL);
INSERT INTO _journal_conflicts VALUES(2,1,X'03000000000000000133','update/delete','["name"]',0,2,9,12,2,117687266344239104,X'fd2802f0c3fe01b12f723f1ca08d2856',1795765172.7999999523,117687266353020928,'open',NULL);
CREATE TABLE _journal_policies (
  name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
  policy TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE _journal_ledger (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_id INTEGER NOT NULL DEFAULT 0,
  dropped_by_age INTEGER NOT NULL DEFAULT 0,
  dropped_by_cap INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO _journal_ledger VALUES(1,0,0,0);
CREATE TABLE _journal_held (
  id INTEGER PRIMARY KEY,
  tbl INTEGER NOT NULL,
  key BLOB NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  image BLOB NOT NULL,
  shown INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1)),
  UNIQUE (tbl, key)
) STRICT;
INSERT INTO _journal_held VALUES(1,1,X'03000000000000000136','unique','UNIQUE constraint failed: person.email',X'00000000000000036167650100000000000000060000000000000005656d61696c030000000000000003654078000000000000000269640300000000000000013600000000000000046e616d65030000000000000003457661',0);
CREATE TABLE _journal_settled (
  id INTEGER PRIMARY KEY,
  tbl INTEGER NOT NULL,
  op INTEGER NOT NULL CHECK (op IN (1, 2, 3)),
  key BLOB
) STRICT;
INSERT INTO _journal_settled VALUES(1,1,3,X'0000000000000002696403000000000000000136');
CREATE TABLE _journal_inbox (
  id INTEGER PRIMARY KEY,
  origin BLOB NOT NULL,
  first_version INTEGER NOT NULL,
  last_version INTEGER NOT NULL,
  batch BLOB NOT NULL
) STRICT;
CREATE TABLE _journal_clocks (
  origin BLOB PRIMARY KEY CHECK (length(origin) = 16),
  first_version INTEGER,
  last_version INTEGER,
  stamp INTEGER,
  cause BLOB,
  since REAL,
  allowed_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX _journal_runs_by_origin ON _journal_runs (origin, first_version);
CREATE INDEX _journal_conflicts_by_key ON _journal_conflicts (tbl, key);
CREATE TRIGGER "_journal_1_insert" AFTER INSERT ON "person" BEGIN INSERT INTO _journal (shape, op, stamp, v0, v1, v2, v3) SELECT 1, 1, julianday('now'), (SELECT NEW."id"), (SELECT NEW."name"), (SELECT NEW."age"), (SELECT NEW."email") FROM (SELECT x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "name", x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "age", x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "email") AS new; END;
CREATE TRIGGER "_journal_1_delete" AFTER DELETE ON "person" BEGIN INSERT INTO _journal (shape, op, stamp, v0) VALUES (1, 3, julianday('now'), OLD."id"); END;
CREATE TRIGGER "_journal_1_key" AFTER UPDATE OF "id" ON "person" WHEN NOT (NOT (OLD."id" IS NOT NEW."id")) BEGIN INSERT INTO _journal (shape, op, stamp, mask, v0) SELECT 1, 3, julianday('now'), (SELECT 1 FROM "person" AS t WHERE t."id" IS NEW."id"), OLD."id" WHERE OLD."id" IS NOT NULL; INSERT INTO _journal (shape, op, stamp, v0, v1, v2, v3) SELECT 1, 1, julianday('now'), NEW."id", (SELECT t."name" FROM "person" AS t WHERE t."id" IS NEW."id"), (SELECT t."age" FROM "person" AS t WHERE t."id" IS NEW."id"), (SELECT t."email" FROM "person" AS t WHERE t."id" IS NEW."id") FROM (SELECT x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "name", x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "age", x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "email") AS t WHERE EXISTS (SELECT 1 FROM "person" AS t WHERE t."id" IS NEW."id"); END;
CREATE TRIGGER "_journal_1_update" AFTER UPDATE ON "person" WHEN NOT (OLD."id" IS NOT NEW."id") BEGIN INSERT INTO _journal (shape, op, stamp, mask, v0, v1, v2, v3) SELECT 1, 2, julianday('now'), new."_journal_mask", (SELECT NEW."id"), CASE WHEN new."_journal_mask" & 2 THEN (SELECT NEW."name") END, CASE WHEN new."_journal_mask" & 4 THEN (SELECT NEW."age") END, CASE WHEN new."_journal_mask" & 8 THEN (SELECT NEW."email") END FROM (SELECT (SELECT (SELECT (OLD."name" IS NOT NEW."name")*2|(OLD."age" IS NOT NEW."age")*4|(OLD."email" IS NOT NEW."email")*8) FROM (SELECT NULL AS "name", NULL AS "age", NULL AS "email") AS old) AS "_journal_mask", NULL AS "name", NULL AS "age", NULL AS "email" FROM (SELECT NULL AS "name", NULL AS "age", NULL AS "email") AS new LIMIT 1) AS new WHERE new."_journal_mask" <> 0; END;
CREATE TRIGGER "_journal_1_evict_insert" BEFORE INSERT ON "person" BEGIN INSERT INTO _journal_suspects (shape, k0) SELECT 1, k0 FROM (SELECT (SELECT (SELECT "person"."id" FROM "person" WHERE "person"."email" = NEW."email" COLLATE "BINARY" AND (NOT ("person"."id" IS NEW."id"))) FROM (SELECT NULL AS "email") AS "person") AS k0 FROM (SELECT NULL AS "email") AS new LIMIT 1) WHERE k0 IS NOT NULL; END;
CREATE TRIGGER "_journal_1_evict_update" BEFORE UPDATE ON "person" BEGIN INSERT INTO _journal_suspects (shape, k0) SELECT 1, k0 FROM (SELECT (SELECT (SELECT "person"."id" FROM "person" WHERE "person"."email" = NEW."email" COLLATE "BINARY" AND (NOT ("person"."id" IS OLD."id"))) FROM (SELECT NULL AS "email") AS "person") AS k0 FROM (SELECT NULL AS "email") AS new LIMIT 1) WHERE k0 IS NOT NULL; END;
CREATE TRIGGER "_journal_2_insert" AFTER INSERT ON "visit" BEGIN INSERT INTO _journal (shape, op, stamp, v0, v1, v2) SELECT 2, 1, julianday('now'), (SELECT NEW."id"), (SELECT NEW."person"), (SELECT NEW."place") FROM (SELECT x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "person", x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "place") AS new; END;
CREATE TRIGGER "_journal_2_delete" AFTER DELETE ON "visit" BEGIN INSERT INTO _journal (shape, op, stamp, v0) VALUES (2, 3, julianday('now'), OLD."id"); END;
CREATE TRIGGER "_journal_2_key" AFTER UPDATE ON "visit" WHEN NOT (NOT (OLD."id" IS NOT NEW."id")) BEGIN INSERT INTO _journal (shape, op, stamp, mask, v0) SELECT 2, 3, julianday('now'), (SELECT 1 FROM "visit" AS t WHERE t."id" IS NEW."id"), OLD."id" WHERE OLD."id" IS NOT NULL; INSERT INTO _journal (shape, op, stamp, v0, v1, v2) SELECT 2, 1, julianday('now'), NEW."id", (SELECT t."person" FROM "visit" AS t WHERE t."id" IS NEW."id"), (SELECT t."place" FROM "visit" AS t WHERE t."id" IS NEW."id") FROM (SELECT x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "person", x'5F6A6F75726E616CFB1E8D2C94A7360D' AS "place") AS t WHERE EXISTS (SELECT 1 FROM "visit" AS t WHERE t."id" IS NEW."id"); END;
CREATE TRIGGER "_journal_2_update" AFTER UPDATE ON "visit" WHEN NOT (OLD."id" IS NOT NEW."id") BEGIN INSERT INTO _journal (shape, op, stamp, mask, v0, v1, v2) SELECT 2, 2, julianday('now'), new."_journal_mask", (SELECT NEW."id"), CASE WHEN new."_journal_mask" & 2 THEN (SELECT NEW."person") END, CASE WHEN new."_journal_mask" & 4 THEN (SELECT NEW."place") END FROM (SELECT (SELECT (SELECT (OLD."person" IS NOT NEW."person")*2|(OLD."place" IS NOT NEW."place")*4) FROM (SELECT NULL AS "person", NULL AS "place") AS old) AS "_journal_mask", NULL AS "person", NULL AS "place" FROM (SELECT NULL AS "person", NULL AS "place") AS new LIMIT 1) AS new WHERE new."_journal_mask" <> 0; END;
COMMIT;
