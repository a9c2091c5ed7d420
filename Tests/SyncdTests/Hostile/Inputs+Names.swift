import Foundation
import Journal
import SwiftProtobuf

@testable import Sync

/// Parts D and E of the catalogue: names, rows, clocks, identities.
extension HostileInput {
    /// B35 to B41: names of tables and columns.
    @HostileInputs static var names: [HostileInput] {
        [
            #"t"; DROP TABLE person;--"#, "t'; DELETE FROM person; --", "main.person", "temp.person",
            "person; ATTACH 'x' AS y",
            "pers\u{F6}n", " person", "person ", "\"person\"", "[person]", "\u{440}erson", "p\u{200B}erson", "%s%n",
            "../../etc/passwd",
        ].map { table in
            push(35, "a table named \(table)", .kept) { scene in
                try scene.push(scene.batch(table, ["id", "name"], keys: 1, [[.text("n"), .text("v")]]))
            }
        }
        [("empty", ""), ("with a NUL", "t\0x"), ("of 1 MB", String(repeating: "t", count: 1 << 20))].map {
            name, table in
            push(35, "a name that is \(name)", .refused([.invalid, .tooLarge])) { scene in
                try scene.push { $0.shapes[0].table = wireData(table.utf8) }
            }
        }
        push(35, "a name that is no UTF-8", invalid) { try $0.push { $0.shapes[0].table = wireData([0xC3, 0x28]) } }
        push(35, "a column that is empty", invalid) { try $0.push { $0.shapes[0].columns[1] = wireData([]) } }
        push(35, "a column with a NUL", invalid) { try $0.push { $0.shapes[0].columns[1] = wireData([0x61, 0]) } }
        [
            "sqlite_master", "sqlite_schema", "sqlite_sequence", "sqlite_stat1", "_journal", "_journal_runs",
            "_journal_replica",
            "_journal_held", "_journal_origins", "_JOURNAL", "search_data", "search", "names", "loose",
            "pragma_table_info",
        ].map { table in
            push(36, "a change of \(table)", .kept) { scene in
                try scene.push(
                    scene.batch(
                        table, ["id", "name", "sql"], keys: 1, [[.text("n"), .text("v"), .text("CREATE TABLE x (y)")]]))
            }
        }
        ["rowid", "_rowid_", "oid", "NAME2", "na\u{301}me", "name ", "b\"; DROP TABLE person;--"].map { column in
            push(
                37, "a column named \(column) is kept apart, the row is shown",
                .applied(
                    "SELECT count(*) = 1 FROM person WHERE id = 'col-' || hex('\(column.replacingOccurrences(of: "'", with: "''"))')"
                )
            ) { scene in
                let id = "col-" + column.utf8.map { String(format: "%02X", $0) }.joined()
                return try scene.push(
                    scene.batch("person", ["id", "name", column], keys: 1, [[.text(id), .text("v"), .integer(1)]]))
            }
        }
        push(37, "a generated column is not written", .applied("SELECT b = 10 FROM twice WHERE id = 37")) { scene in
            try scene.push(
                scene.batch("twice", ["id", "a", "b"], keys: 1, [[.integer(37), .integer(5), .integer(999)]]))
        }
        push(
            37, "a column in another case is the same column",
            .applied("SELECT name = 'case' FROM person WHERE id = 'case'")
        ) {
            scene in
            try scene.push(scene.batch("PERSON", ["ID", "NAME"], keys: 1, [[.text("case"), .text("case")]]))
        }
        push(37, "one column in two cases", invalid) { scene in
            try scene.push(
                scene.batch("person", ["id", "name", "NAME"], keys: 1, [[.text("cases"), .text("a"), .text("b")]]))
        }
        push(38, "a change of a table that is not shared", .kept) { scene in
            try scene.push(scene.batch("secret", ["id", "s"], keys: 1, [[.integer(2), .text("x")]]))
        }
        push(38, "a delete in a table that is not shared", .kept) { scene in
            try scene.push(
                scene.batch("secret", ["id", "s"], keys: 1, [[.integer(1), .text("x")]], operation: .delete))
        }
        ["secret", "sqlite_master", "_journal_replica", "nowhere", "person\" --"].flatMap { table in
            [
                HostileInput(
                    38, "the rows of \(table)",
                    .endpoint(.digest) { scene in
                        try scene.digest(
                            .rows(
                                shape: TableShape(table: table, columns: ["id", "s"], keyCount: 1), after: nil,
                                through: nil))
                    }, .refused([.notFound])),
                HostileInput(
                    38, "digests of \(table)",
                    .endpoint(.digest) { scene in
                        try scene.digest(
                            .digests(
                                shape: TableShape(table: table, columns: ["id", "s"], keyCount: 1), after: nil,
                                rowsPerDigest: 1))
                    }, .refused([.notFound])),
            ]
        }
        HostileInput(
            38, "the rows of a missing column",
            .endpoint(.digest) { scene in
                try scene.digest(
                    .rows(
                        shape: TableShape(table: "person", columns: ["id", "(SELECT s FROM secret)"], keyCount: 1),
                        after: nil,
                        through: nil))
            }, .refused([.notFound]))
        HostileInput(
            38, "the rows by an invalid key",
            .endpoint(.digest) { scene in
                try scene.digest(
                    .rows(
                        shape: TableShape(table: "person", columns: ["name", "id"], keyCount: 1), after: nil,
                        through: nil))
            }, .refused([.notFound, .invalid]))
        HostileInput(38, "no question", .endpoint(.digest) { try $0.digest { $0.question = nil } }, invalid)
        [
            "DROP TABLE person", "PRAGMA writable_schema = ON", "ATTACH '/etc/passwd' AS p",
            "SELECT load_extension('x')",
            "CREATE TRIGGER t AFTER INSERT ON person BEGIN SELECT 1; END",
        ].flatMap { sql in
            [
                push(39, "a stream that is \(sql)", invalid) { _ in Array(sql.utf8) },
                push(
                    39, "a value that is \(sql)",
                    .applied(
                        "SELECT count(*) >= 1 FROM person WHERE name = '\(sql.replacingOccurrences(of: "'", with: "''"))'"
                    )
                ) { scene in
                    try scene.push(
                        scene.batch("person", ["id", "name"], keys: 1, [[.text("sql-\(sql)"), .text(sql)]]))
                },
            ]
        }
        push(
            40, "a value at which a trigger of the file fires",
            .applied("SELECT name = 'fire' FROM person WHERE id = 'fire'")
        ) {
            scene in
            try scene.push(scene.batch("person", ["id", "name"], keys: 1, [[.text("fire"), .text("fire")]]))
        }
        push(41, "a column that does not exist here", .applied("SELECT count(*) = 1 FROM person WHERE id = 'newer'")) {
            scene in
            try scene.push(
                scene.batch("person", ["id", "name", "later"], keys: 1, [[.text("newer"), .text("n"), .real(1)]]))
        }
        push(41, "fewer columns than here", .applied("SELECT age IS NULL FROM person WHERE id = 'older'")) { scene in
            try scene.push(scene.batch("person", ["id", "name"], keys: 1, [[.text("older"), .text("n")]]))
        }
        push(41, "another primary key", .kept) { scene in
            try scene.push(scene.batch("person", ["age", "id"], keys: 1, [[.integer(1), .text("other")]]))
        }
        push(41, "a key of more columns", .kept) { scene in
            try scene.push(scene.batch("person", ["id", "name"], keys: 2, [[.text("wider"), .text("n")]]))
        }
    }

    /// B42 to B44: keys and constraints.
    @HostileInputs static var rows: [HostileInput] {
        push(42, "a key that is NULL", .kept) { scene in
            try scene.push(scene.batch("person", ["id", "name"], keys: 1, [[.null, .text("n")]]))
        }
        push(42, "NULL in a key of two columns of WITHOUT ROWID", .kept) { scene in
            try scene.push(scene.batch("pair", ["a", "b", "c"], keys: 2, [[.null, .integer(1), .null]]))
        }
        push(42, "1 and 1.0 are one key", .applied("SELECT count(*) = 1 FROM pair WHERE a = 42")) { scene in
            try scene.push(
                scene.batch(
                    "pair", ["a", "b", "c"], keys: 2,
                    [[.integer(42), .integer(1), .null], [.real(42), .integer(1), .null]]))
        }
        push(
            42, "1 and '1' are two keys where nothing converts them",
            .applied("SELECT count(*) = 2 FROM pair WHERE a = 43 OR a = '43'")
        ) {
            scene in
            try scene.push(
                scene.batch(
                    "pair", ["a", "b", "c"], keys: 2,
                    [[.integer(43), .integer(1), .null], [.text("43"), .integer(1), .null]]))
        }
        push(
            42, "a number as the key of a TEXT column, which would store it as another key, is held", .kept
        ) {
            scene in
            try scene.push(scene.batch("person", ["id", "name"], keys: 1, [[.integer(42), .text("n")]]))
        }
        push(42, "two cases of one NOCASE key are one row", .applied("SELECT count(*) = 1 FROM word WHERE k = 'KEY'")) {
            scene in
            try scene.push(
                scene.batch("word", ["k", "v"], keys: 1, [[.text("Key"), .integer(1)], [.text("kEY"), .integer(2)]]))
        }
        push(42, "the greatest rowid", .applied("SELECT count(*) = 1 FROM item WHERE id = 9223372036854775807")) {
            scene in
            try scene.push(scene.batch("item", ["id", "n", "u"], keys: 1, [[.integer(.max), .integer(1), .null]]))
        }
        push(42, "a REAL as rowid", .applied("SELECT count(*) = 1 FROM item WHERE id = 4200")) { scene in
            try scene.push(scene.batch("item", ["id", "n", "u"], keys: 1, [[.real(4_200), .integer(1), .null]]))
        }
        push(43, "a foreign key to a row that is not there", .kept) { scene in
            try scene.push(scene.batch("child", ["id", "item"], keys: 1, [[.integer(43), .integer(4_343)]]))
        }
        push(
            43, "a UNIQUE value that another row has",
            .applied(
                "SELECT (SELECT count(*) FROM item WHERE u = 'a') = 1 AND (SELECT count(*) FROM _journal_held) > 0")
        ) { scene in
            try scene.push(scene.batch("item", ["id", "n", "u"], keys: 1, [[.integer(44), .integer(1), .text("a")]]))
        }
        push(43, "a CHECK that is false", .kept) { scene in
            try scene.push(scene.batch("item", ["id", "n", "u"], keys: 1, [[.integer(45), .integer(5_000), .null]]))
        }
        push(43, "NULL for NOT NULL", .kept) { scene in
            try scene.push(scene.batch("item", ["id", "n", "u"], keys: 1, [[.integer(46), .null, .null]]))
        }
        push(43, "a parent that comes after its child", .applied("SELECT count(*) = 1 FROM child WHERE id = 47")) {
            scene in
            var batch = scene.batch("child", ["id", "item"], keys: 1, [[.integer(47), .integer(4_700)]])
            let parent = scene.batch("item", ["id", "n", "u"], keys: 1, [[.integer(4_700), .integer(1), .null]])
            batch.shapes += parent.shapes
            batch.changes.append(
                Change(
                    shape: 1, operation: .insert, life: 1, stamp: Stamp(rawValue: scene.stamp.rawValue + 1),
                    mask: ColumnMask(all: 3), values: 2..<5, endsTransaction: true))
            batch.values += parent.values
            batch.runs[0].changes = 0..<2
            return try scene.push(batch)
        }
        push(44, "4 000 changes of one row", .applied("SELECT age = 3999 FROM person WHERE id = 'hot'")) { scene in
            try scene.push(
                scene.batch(
                    "person", ["id", "name", "age"], keys: 1,
                    (0..<4_000).map { [.text("hot"), .text("h"), .integer(Int64($0))] }))
        }
        push(44, "4 000 rows that want one UNIQUE value", .applied("SELECT count(*) = 1 FROM item WHERE u = 'wanted'"))
        { scene in
            try scene.push(
                scene.batch(
                    "item", ["id", "n", "u"], keys: 1,
                    (0..<400).map { [.integer(Int64(50_000 + $0)), .integer(1), .text("wanted")] }))
        }
        push(44, "1 000 children without a parent", .kept) { scene in
            try scene.push(
                scene.batch(
                    "child", ["id", "item"], keys: 1,
                    (0..<1_000).map { [.integer(Int64(60_000 + $0)), .integer(987_654)] }))
        }
        push(
            44, "a row that was deleted and made again 1 000 times",
            .applied("SELECT count(*) = 0 FROM person WHERE id = 'phoenix'")
        ) {
            scene in
            var batch = scene.batch(
                "person", ["id"], keys: 1, (0..<1_000).map { _ in [.text("phoenix")] })
            for index in batch.changes.indices {
                let isDelete = !index.isMultiple(of: 2)
                batch.changes[index].operation = isDelete ? .delete : .insert
                batch.changes[index].mask = isDelete ? ColumnMask() : ColumnMask(all: 1)
                batch.changes[index].life = Int64(index + 1)
            }
            return try scene.push(batch)
        }
    }

    /// B45 to B47: stamps, counters, lives.
    @HostileInputs static var clocks: [HostileInput] {
        ([
            ("3 minutes ahead", 3 * 60_000), ("10 years ahead", 10 * 365 * 86_400_000),
            ("1 000 years ahead", 365_000 * 86_400_000),
        ] as [(String, Int64)]).map { name, ahead in
            push(45, "a stamp \(name) is held back", .kept) { scene in
                try scene.push(scene.batch(stamp: Stamp(milliseconds: scene.milliseconds + ahead)))
            }
        }
        push(45, "the last stamp there is", .kept) { try $0.push($0.batch(stamp: Stamp(rawValue: .max - 10))) }
        push(45, "a stamp 1 minute ahead is taken", .applied("SELECT count(*) = 1 FROM person WHERE id = 'minute'")) {
            scene in
            try scene.push(
                scene.batch(
                    "person", ["id", "name"], keys: 1, [[.text("minute"), .null]],
                    stamp: Stamp(milliseconds: scene.milliseconds + 60_000)))
        }
        push(
            45, "an earlier change is taken, the one ahead is not",
            .applied(
                "SELECT count(*) = 1 FROM person WHERE id IN ('early', 'ahead')")
        ) { scene in
            var batch = scene.batch(
                "person", ["id", "name"], keys: 1, [[.text("early"), .null], [.text("ahead"), .null]])
            batch.changes[1].stamp = Stamp(milliseconds: scene.milliseconds + 86_400_000)
            return try scene.push(batch)
        }
        push(46, "a stamp of 0", invalid) { try $0.push { $0.stampDeltas[0] = 0 } }
        push(46, "a stamp below 0", invalid) { try $0.push { $0.stampDeltas[0] = -5 } }
        push(46, "a stamp of Int64.min", invalid) { try $0.push { $0.stampDeltas[0] = .min } }
        push(46, "stamps whose sum overflows", invalid) { scene in
            try scene.push(
                scene.batch("person", ["id", "name"], keys: 1, [[.text("a"), .null], [.text("b"), .null]])
            ) { $0.stampDeltas = [.max, 1] }
        }
        push(46, "a stamp of 1970", .applied("SELECT count(*) = 1 FROM person WHERE id = 'old'")) { scene in
            try scene.push(
                scene.batch("person", ["id", "name"], keys: 1, [[.text("old"), .null]], stamp: Stamp(rawValue: 1)))
        }
        push(46, "a counter at its end", .applied("SELECT count(*) = 1 FROM person WHERE id = 'counter'")) { scene in
            try scene.push(
                scene.batch(
                    "person", ["id", "name"], keys: 1, [[.text("counter"), .null]],
                    stamp: Stamp(rawValue: scene.stamp.rawValue | 0xFFFF)))
        }
        push(46, "an old stamp does not win over a newer one", .kept) { scene in
            try scene.push(
                scene.batch(
                    "person", ["id", "name", "age"], keys: 1, [[.text("p2"), .text("old"), .integer(0)]],
                    stamp: Stamp(rawValue: 2)))
        }
        [Int64.max, 1 << 40 + 1, 1 << 41, -1, 0].map { life in
            push(47, "a life of \(life)", invalid) { scene in
                try scene.push {
                    $0.lives = [life]
                    $0.lifeSkips = [0]
                }
            }
        }
        push(47, "a life of the wrong parity", invalid) {
            try $0.push {
                $0.lives = [2]
                $0.lifeSkips = [0]
            }
        }
        push(47, "a life that no history can have led to", .kept) { try $0.push($0.batch(life: 1_001)) }
        push(47, "a life that no history can have led to, of a delete", .kept) { scene in
            try scene.push(scene.batch(operation: .delete, life: 1_000_000))
        }
    }

    /// B48 to B57: origins and vectors.
    @HostileInputs static var identities: [HostileInput] {
        push(
            48, "new changes under the name of a third origin are a relay's right",
            .applied(
                "SELECT count(*) = 1 FROM person WHERE id = 'relayed'")
        ) { scene in
            try scene.push(
                scene.batch("person", ["id", "name"], keys: 1, [[.text("relayed"), .null]], origin: .random()))
        }
        push(49, "a change under the receiver's name that it has", .served) { scene in
            try scene.push(scene.batch(origin: scene.own))
        }
        push(49, "a change under the receiver's name that it never made, far beyond", .refused([.fork, .gap])) {
            scene in
            try scene.push(scene.batch(first: 1_000_000, origin: scene.own))
        }
        HostileInput(
            49, "a pull under the receiver's name",
            .endpoint(.pull) { scene in
                try scene.pull { $0.origin = wireData(scene.own.bytes) }
            }, .refused([.selfPeer]))
        HostileInput(
            49, "a hello under the receiver's name",
            .endpoint(.hello) { scene in
                try scene.hello { $0.origin = wireData(scene.own.bytes) }
            }, .served)
        push(50, "version 5 first", .refused([.gap])) { try $0.push($0.batch(first: 5)) }
        push(50, "version 0", invalid) { try $0.push { $0.runFirstVersions[0] = 0 } }
        push(50, "version -1", invalid) { try $0.push { $0.runFirstVersions[0] = -1 } }
        push(50, "version 2^63 - 1", invalid) { try $0.push { $0.runFirstVersions[0] = .max } }
        push(50, "version 2^60", .refused([.invalid, .gap])) { try $0.push { $0.runFirstVersions[0] = 1 << 60 } }
        push(
            50, "a version again with other content: the first one stays",
            .applied(
                "SELECT name = 'first' FROM person WHERE id = 'again'")
        ) { scene in
            func frame(_ name: String) throws -> [UInt8] {
                try Frame(
                    scene.batch("person", ["id", "name"], keys: 1, [[.text("again"), .text(name)]]), encoding: .none
                ).encoded()
            }
            return try scene.open() + frame("first") + frame("second") + scene.end()
        }
        push(50, "a range that goes on after a gap", .refused([.gap])) { scene in
            var batch = scene.batch(
                "person", ["id", "name"], keys: 1, [[.text("g1"), .null], [.text("g3"), .null]])
            let run = batch.runs[0]
            batch.runs = [
                Run(origin: run.origin, firstVersion: 1, changes: 0..<1, known: run.known),
                Run(origin: run.origin, firstVersion: 3, changes: 1..<2, known: run.known),
            ]
            return try scene.push(batch)
        }
        HostileInput(
            52, "a vector of more origins than there may be",
            .endpoint(.pull) { scene in
                try scene.pull { $0.have = HostileInput.vector(of: 1_001) }
            }, .refused([.tooLarge]))
        HostileInput(
            52, "a vector of as many origins as there may be",
            .endpoint(.pull) { scene in
                try scene.pull { $0.have = HostileInput.vector(of: 1_000) }
            }, .served)
        HostileInput(
            52, "a hello with 20 000 origins",
            .endpoint(.hello) { scene in
                try scene.hello { $0.vector = HostileInput.vector(of: 20_000) }
            }, .refused([.tooLarge]))
        push(52, "an end with more origins than there may be", .refused([.tooLarge])) { scene in
            var header = Tandem_V1_FrameHeader()
            header.wireVersion = wireVersion
            header.end.vector = HostileInput.vector(of: 2_000)
            return try scene.open() + HostileInput.frame(header.serializedBytes(), [])
        }
        push(52, "a batch of more origins than there may be", .refused([.tooLarge])) { scene in
            try scene.push { $0.origins += (1...1_000).map { wireData(OriginID(high: 9, low: $0).bytes) } }
        }
        push(52, "known vectors that grow with each run", .refused([.tooLarge, .invalid])) { scene in
            try scene.push(
                scene.batch(
                    "person", ["id"], keys: 1, (0..<4_000).map { [.text("v\($0)")] })
            ) { message in
                message.origins = [message.origins[0]] + (1...900).map { wireData(OriginID(high: 9, low: $0).bytes) }
                let runs = 4_000
                message.runOrigins = [UInt32](repeating: 0, count: runs)
                message.runFirstVersions = (1...runs).map(Int64.init)
                message.runLengths = [UInt32](repeating: 1, count: runs)
                message.runAdds = [false] + [Bool](repeating: true, count: runs - 1)
                message.runKnownCounts = [900] + [UInt32](repeating: 0, count: runs - 1)
                message.knownOrigins = (1...900).map(UInt32.init)
                message.knownVersions = [Int64](repeating: 1, count: 900)
            }
        }
        ([
            ("of no bytes", []), ("of 15 bytes", [UInt8](repeating: 1, count: 15)),
            ("of 17 bytes", [UInt8](repeating: 1, count: 17)),
            ("of zeros", [UInt8](repeating: 0, count: 16)), ("of ones", [UInt8](repeating: 255, count: 16)),
        ] as [(String, [UInt8])]).flatMap { name, origin in
            [
                HostileInput(
                    53, "an origin \(name) in a hello",
                    .endpoint(.hello) { scene in
                        try scene.hello { $0.origin = wireData(origin) }
                    }, invalid),
                HostileInput(
                    53, "an origin \(name) in a pull",
                    .endpoint(.pull) { scene in
                        try scene.pull { $0.origin = wireData(origin) }
                    }, invalid),
                push(53, "an origin \(name) in a batch", invalid) { try $0.push { $0.origins[0] = wireData(origin) } },
            ]
        }
        push(54, "the delete of a row that never was", .kept) { scene in
            try scene.push(scene.batch("person", ["id"], keys: 1, [[.text("never")]], operation: .delete))
        }
        push(
            54, "an insert older than its delete revives nothing",
            .applied("SELECT count(*) = 0 FROM person WHERE id = 'dead'")
        ) {
            scene in
            var batch = scene.batch(
                "person", ["id"], keys: 1, [[.text("dead")], [.text("dead")]],
                stamp: Stamp(milliseconds: scene.milliseconds))
            batch.changes[0].operation = .delete
            batch.changes[0].life = 2
            batch.changes[0].mask = ColumnMask()
            batch.changes[1].stamp = Stamp(rawValue: 7)
            batch.runs = [
                Run(origin: scene.origin, firstVersion: 1, changes: 0..<1, known: VersionVector()),
                Run(origin: .random(), firstVersion: 1, changes: 1..<2, known: VersionVector()),
            ]
            return try scene.push(batch)
        }
        push(
            55, "a push twice in one stream changes once",
            .applied("SELECT count(*) = 1 FROM person WHERE id = 'replay'")
        ) { scene in
            let frame = try Frame(
                scene.batch("person", ["id", "name"], keys: 1, [[.text("replay"), .null]]), encoding: .gzip
            ).encoded()
            return try scene.open() + frame + frame + frame + scene.end()
        }
        push(55, "a push that was captured from another cluster", .refused([.otherCluster])) { scene in
            try scene.open(cluster: "bank") + Frame(scene.batch(), encoding: .none).encoded() + scene.end()
        }
        HostileInput(
            55, "a pull that was captured from another cluster",
            .endpoint(.pull) { scene in
                try scene.pull { $0.cluster = wireData("bank".utf8) }
            }, .refused([.otherCluster]))
        HostileInput(
            55, "a cluster in another normal form",
            .endpoint(.hello) { scene in
                try scene.hello { $0.cluster = wireData("mai\u{6E}\u{301}".utf8) }
            }, .refused([.otherCluster]))
        HostileInput(
            55, "a cluster with line breaks",
            .endpoint(.hello) { scene in
                try scene.hello { $0.cluster = wireData("main\r\nINFO forged".utf8) }
            }, .refused([.otherCluster]))
        HostileInput(
            55, "a cluster of 4 096 bytes",
            .endpoint(.hello) { scene in
                try scene.hello { $0.cluster = wireData([UInt8](repeating: 0x61, count: 4_096)) }
            }, .refused([.otherCluster]))
        push(56, "an end that claims versions nobody made", .served) { scene in
            var vector = VersionVector()
            vector.advance(scene.origin, to: 1 << 60)
            return try scene.open() + scene.end(vector)
        }
        push(56, "an end whose vector goes back", .served) { try $0.open() + $0.end() }
        HostileInput(
            56, "a pull that has versions nobody made",
            .endpoint(.pull) { scene in
                try scene.pull { $0.have = Tandem_V1_Vector(HostileInput.having(scene.origin, 1 << 60)) }
            }, .served)
        HostileInput(
            56, "samples of versions nobody made",
            .endpoint(.hello) { scene in
                try scene.hello {
                    $0.sampleVersions = [5, 9]
                    $0.sampleDigests = [1, 2]
                }
            }, invalid)
        HostileInput(
            56, "samples without digests",
            .endpoint(.hello) { scene in
                try scene.hello { $0.sampleVersions = [9, 5] }
            }, invalid)
        HostileInput(
            56, "10 000 samples",
            .endpoint(.hello) { scene in
                try scene.hello {
                    $0.sampleVersions = (1...10_000).reversed().map(Int64.init)
                    $0.sampleDigests = [UInt64](repeating: 1, count: 10_000)
                }
            }, .refused([.tooLarge]))
        HostileInput(
            56, "an instance of 1 MB",
            .endpoint(.hello) { scene in
                try scene.hello { $0.instance = wireData([UInt8](repeating: 1, count: 900_000)) }
            }, invalid)
        HostileInput(
            57, "a position of -1",
            .endpoint(.pull) { scene in
                try scene.pull { $0.have = HostileInput.vector(of: 1, version: -1) }
            }, invalid)
        HostileInput(
            57, "a position of 2^63 - 1",
            .endpoint(.pull) { scene in
                try scene.pull { $0.have = HostileInput.vector(of: 1, version: .max) }
            }, invalid)
        HostileInput(
            57, "a wait of 136 years and 2^64 bytes",
            .endpoint(.pull) { scene in
                // The size is clamped. The vector is empty, so there is something to send and nothing waits.
                try scene.pull {
                    $0.waitSeconds = .max
                    $0.maxBytes = .max
                }
            }, .served)
        HostileInput(57, "a pull of one byte", .endpoint(.pull) { try $0.pull { $0.maxBytes = 1 } }, .served)
        HostileInput(
            57, "4 billion rows for one digest",
            .endpoint(.digest) { scene in
                try scene.digest(
                    .digests(
                        shape: TableShape(table: "person", columns: ["id"], keyCount: 1), after: nil,
                        rowsPerDigest: Int(UInt32.max)))
            }, .served)
        HostileInput(
            57, "no row for one digest",
            .endpoint(.digest) { scene in
                try scene.digest(
                    .digests(
                        shape: TableShape(table: "person", columns: ["id"], keyCount: 1), after: nil, rowsPerDigest: 0))
            }, .served)
        HostileInput(
            57, "a key of another length to go on after",
            .endpoint(.digest) { scene in
                try scene.digest(
                    .digests(
                        shape: TableShape(table: "person", columns: ["id"], keyCount: 1),
                        after: [.integer(1), .integer(2)],
                        rowsPerDigest: 1))
            }, invalid)
    }

    /// A vector of `count` origins.
    private static func vector(of count: Int, version: Int64 = 1) -> Tandem_V1_Vector {
        var vector = Tandem_V1_Vector()
        vector.entries = (0..<count).map { index in
            var entry = Tandem_V1_Vector.Entry()
            entry.origin = wireData(OriginID(high: 9, low: UInt64(index)).bytes)
            entry.version = version
            return entry
        }
        return vector
    }

    private static func having(_ origin: OriginID, _ version: Int64) -> VersionVector {
        VersionVector([VersionVector.Entry(origin: origin, version: version)])
    }
}
