import GRDB
import Journal
import TestSupport

/// One random schema with random statements of several connections, with repeated checks against its journal.
final class RandomRun {
    struct Counts: Sendable {
        var schemas = 0
        var statements = 0
        var succeeded = 0
        var rolledBack = 0
        var entries: Int64 = 0
        var rows = 0
        var alterations = 0
        var evictions = 0

        static func += (a: inout Counts, b: Counts) {
            a.schemas += b.schemas
            a.statements += b.statements
            a.succeeded += b.succeeded
            a.rolledBack += b.rolledBack
            a.entries += b.entries
            a.rows += b.rows
            a.alterations += b.alterations
            a.evictions += b.evictions
        }
    }

    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// What happened. It becomes text only after a failure.
    private enum Line: CustomStringConvertible {
        case text(String)
        case entry(JournalEntry)

        var description: String {
            switch self {
            case .text(let text): return text
            case .entry(let entry):
                let columns = entry.operation == .update ? " \(entry.columns)" : ""
                return
                    "  \(entry.seq) \(entry.operation) \(entry.shape.table) \(entry.keyValues) life \(entry.life)\(columns)"
            }
        }
    }

    private var random: SplitMix
    private let directory = TemporaryDirectory()
    private let replica: Replica
    private let connections: [(name: String, connection: RawConnection)]
    private var schema: RandomSchema
    private var replay = JournalReplay()
    private(set) var counts = Counts(schemas: 1)
    private var log: [Line] = []
    private var addedColumns = 0

    init(seed: UInt64) throws {
        random = SplitMix(seed: seed)
        schema = RandomSchema(&random)
        let path = directory.file("a.sqlite")
        let setup = try RawConnection(path: path)
        for statement in schema.statements {
            log.append(.text(statement))
            let code = setup.execute(statement)
            if code != 0, statement.hasPrefix("CREATE TABLE") {
                throw Mismatch(description: "\(setup.lastMessage): \(statement)")
            }
        }
        for table in schema.tables {
            for _ in 0..<random.below(12) {
                let statement = RandomStatement.insert(into: table, verb: "INSERT OR IGNORE", &random)
                log.append(.text("setup: \(statement)"))
                _ = setup.execute(statement)
            }
        }
        var options = Replica.Options()
        options.durability = .normal
        options.maximumReaders = 1
        let created = try Replica.create(
            at: path, InitializeRequest(origin: OriginID(high: 1, low: seed | 1)), options: options)
        replica = created.replica
        guard created.report.untracked.isEmpty else {
            throw Mismatch(description: "untracked: \(created.report.untracked)")
        }
        connections = [
            ("plain", try RawConnection(path: path)),
            ("fk", try RawConnection(path: path, foreignKeys: true)),
            ("recursive", try RawConnection(path: path, recursiveTriggers: true)),
            ("recursive fk", try RawConnection(path: path, recursiveTriggers: true, foreignKeys: true)),
        ]
    }

    /// - Throws: ``Mismatch`` with the statements since the last check.
    func run(statements: Int) throws {
        do {
            try check()
            var nextCheck = 0
            while counts.statements < statements {
                try unit()
                if counts.statements >= nextCheck {
                    try check()
                    nextCheck = counts.statements + 10 + random.below(20)
                }
            }
            try check()
            try checkReaders()
        } catch let mismatch as Mismatch {
            throw Mismatch(description: "\(mismatch)\n\(log.suffix(90).map(\.description).joined(separator: "\n"))")
        }
        counts.entries = replay.position
    }

    // MARK: - Statements

    private func unit() throws {
        switch random.below(100) {
        case 0..<50: try autocommit(connections[random.below(connections.count)])
        case 50..<75: try transaction(connections[random.below(connections.count)])
        case 75..<90: try ownTransaction()
        case 90..<98: try nothing(connections[random.below(connections.count)])
        default: alter(connections[random.below(connections.count)])
        }
    }

    private func statement() -> String { RandomStatement.any(random.pick(schema.tables), &random) }

    private func lastSeq() throws -> Value {
        try connections[0].connection.rows("SELECT max(seq) FROM _journal")[0][0]
    }

    private func count(_ code: Int32) {
        counts.statements += 1
        if code == 0 { counts.succeeded += 1 }
    }

    @discardableResult
    private func execute(_ sql: String, _ on: (name: String, connection: RawConnection)) -> Int32 {
        let code = on.connection.execute(sql)
        log.append(.text("\(on.name): \(sql); -- \(code)" + (code == 0 ? "" : " \(on.connection.lastMessage)")))
        return code
    }

    private func autocommit(_ on: (name: String, connection: RawConnection)) throws {
        let before = try lastSeq()
        let sql = statement()
        let code = execute(sql, on)
        count(code)
        if code != 0, !sql.contains("OR FAIL"), try lastSeq() != before {
            throw Mismatch(description: "a failed statement was journalled")
        }
    }

    private func nothing(_ on: (name: String, connection: RawConnection)) throws {
        let table = random.pick(schema.tables)
        guard !table.hasTriggers else { return }
        let before = try lastSeq()
        count(execute(RandomStatement.nothing(table, &random), on))
        if try lastSeq() != before { throw Mismatch(description: "a statement that changes nothing was journalled") }
    }

    private func transaction(_ on: (name: String, connection: RawConnection)) throws {
        let before = try lastSeq()
        let schemaBefore = schema
        execute(random.pick(["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]), on)
        // A statement OR ROLLBACK may end the transaction early.
        for _ in 0..<(1 + random.below(6)) where on.connection.isInTransaction {
            if random.chance(1) { alter(on) }
            if random.chance(25) { savepoint(on) }
            if on.connection.isInTransaction { count(execute(statement(), on)) }
        }
        if on.connection.isInTransaction {
            if !random.chance(30), execute("COMMIT", on) == 0 { return }
            execute("ROLLBACK", on)
        }
        counts.rolledBack += 1
        schema = schemaBefore
        if try lastSeq() != before {
            throw Mismatch(description: "a transaction that was rolled back was journalled")
        }
    }

    private func savepoint(_ on: (name: String, connection: RawConnection)) {
        execute("SAVEPOINT \"s p\"", on)
        let isRolledBack = random.chance(60)
        for _ in 0..<(1 + random.below(3)) where on.connection.isInTransaction { count(execute(statement(), on)) }
        guard on.connection.isInTransaction else { return }
        if isRolledBack { execute("ROLLBACK TO \"s p\"", on) }
        if random.chance(30) { count(execute(statement(), on)) }
        if on.connection.isInTransaction { execute("RELEASE \"s p\"", on) }
    }

    /// Runs a transaction through the replica, which marks its end.
    private func ownTransaction() throws {
        let isRolledBack = random.chance(25)
        let before = try lastSeq()
        do {
            try replica.write { db in
                for _ in 0..<(1 + random.below(4)) {
                    let sql = statement()
                    let code: Int32 = (try? RawStatement(db, sql)).map { $0.runForResult() } ?? 1
                    log.append(.text("replica: \(sql); -- \(code)"))
                    count(code)
                    if !db.isInsideTransaction { throw CancellationError() }
                }
                if isRolledBack { throw CancellationError() }
            }
        } catch {
            log.append(.text("replica: rolled back: \(error)"))
            counts.rolledBack += 1
            if try lastSeq() != before { throw Mismatch(description: "a write that threw was journalled") }
            return
        }
        let last = try lastSeq()
        if last != before,
            try connections[0].connection.rows("SELECT tx FROM _journal ORDER BY seq DESC LIMIT 1") != [[.integer(1)]]
        {
            throw Mismatch(description: "the end of a transaction is not marked")
        }
    }

    private func alter(_ on: (name: String, connection: RawConnection)) {
        let index = random.below(schema.tables.count)
        addedColumns += 1
        let name = "added \(addedColumns)"
        if random.chance(50) {
            let kind = random.pick(RandomClass.allCases)
            var definition = schema.tables[index].isStrict ? kind.strictType : random.pick(kind.declaredTypes)
            let isGenerated = random.chance(10)
            var defaultValue: Value?
            if isGenerated {
                definition += " AS (1)"
            } else if random.chance(50) {
                let value = kind.defaults(&random)
                // SQLite refuses to add a column whose default is an expression in parentheses.
                definition += " DEFAULT \(value.sql.filter { $0 != "(" && $0 != ")" })"
                defaultValue = value.value
            }
            let isNotNull = defaultValue != nil && random.chance(50)
            if isNotNull { definition += " NOT NULL" }
            if random.chance(30) { definition += " COLLATE NOCASE" }
            let column = RandomColumn(
                name: name, kind: kind, definition: definition, isGenerated: isGenerated, isNotNull: isNotNull,
                isUnique: false,
                defaultValue: defaultValue)
            guard execute("ALTER TABLE \(schema.tables[index].sql) ADD COLUMN \(column.sql) \(definition)", on) == 0
            else { return }
            schema.tables[index].columns.append(column)
        } else {
            let position = random.below(schema.tables[index].columns.count)
            let old = schema.tables[index].columns[position].sql
            let sql = "ALTER TABLE \(schema.tables[index].sql) RENAME COLUMN \(old) TO \(RandomSchema.quote(name))"
            guard execute(sql, on) == 0 else { return }
            schema.tables[index].columns[position].name = name
        }
        counts.alterations += 1
    }

    // MARK: - Checks

    private func check() throws {
        let suspects = try connections[0].connection.rows("SELECT count(*) FROM _journal_suspects")
        if suspects != [[.integer(0)]] { counts.evictions += 1 }
        try replica.refreshDerivedState()
        let entries = try replica.read { try JournalReader($0).entries(after: replay.position, limit: .max) }
        for entry in entries {
            log.append(.entry(entry))
            let problem = replay.apply(
                entry,
                defaultValue: { table, column in
                    schema.tables.first { $0.name == table }?.columns.first { $0.name == column }?.defaultValue ?? .null
                }, isSelfReferencing: { table in schema.tables.contains { $0.name == table && $0.hasForeignKeys } })
            if let problem { throw Mismatch(description: problem) }
        }
        for table in schema.tables { try compare(table) }
    }

    private func compare(_ table: RandomTable) throws {
        let positions = table.key + table.values
        let columns = positions.map { table.columns[$0] }
        let sql = "SELECT \(columns.map(\.sql).joined(separator: ", ")) FROM \(table.sql)"
        let collations = try replica.read { try ShapeRegistry($0).tracked(table: table.name)?.collations ?? [] }
        let replayed = replay.tables[table.name] ?? [:]
        var found = 0
        for row in try connections[0].connection.rows(sql) {
            let keyValues = row.prefix(table.key.count)
            if keyValues.contains(.null) { continue }
            found += 1
            guard let expected = replayed[Key(keyValues, collations: collations)] else {
                throw Mismatch(description: "\(table.name) holds a row that the journal does not: \(keyValues)")
            }
            guard expected.key == Array(keyValues) else {
                throw Mismatch(description: "\(table.name) spells a key otherwise: \(expected.key), \(keyValues)")
            }
            for (index, column) in columns.enumerated().dropFirst(table.key.count) {
                let value = expected.columns[column.name] ?? column.defaultValue ?? .null
                if value != row[index] {
                    throw Mismatch(
                        description:
                            "\(table.name) \(keyValues): \(column.name) holds \(row[index]), the journal says \(value)")
                }
            }
        }
        counts.rows += found
        guard found == replayed.count else {
            throw Mismatch(description: "\(table.name) has \(found) rows, the journal \(replayed.count)")
        }
        guard replay.living(table.name) == Set(replayed.keys) else {
            throw Mismatch(description: "the lives of \(table.name) are not those of its rows")
        }
    }

    /// Readers with other starts, and readers before and after sealing, return the same.
    private func checkReaders() throws {
        struct Told: Equatable {
            let numbers: [Int64]
            let values: [Value]
        }
        func read(from position: Int64) throws -> [Told] {
            try replica.read { db in
                try JournalReader(db).entries(after: position, limit: .max).map {
                    Told(
                        numbers: [$0.seq, $0.version, $0.stamp.rawValue, $0.life, $0.operation.rawValue],
                        values: $0.values)
                }
            }
        }
        let before = try read(from: 0)
        let middle = Int64(random.below(before.count + 1))
        guard try read(from: middle) == Array(before.dropFirst(Int(middle))) else {
            throw Mismatch(description: "a reader that starts after \(middle) differs")
        }
        try replica.write { _ = try Capture.refresh($0) }
        guard try read(from: 0) == before, try read(from: middle) == Array(before.dropFirst(Int(middle))) else {
            throw Mismatch(description: "readers differ after a seal")
        }
    }
}
