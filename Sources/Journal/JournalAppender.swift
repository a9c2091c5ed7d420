import Foundation
import GRDB

/// Appends changes of other origins to the journal, inside of the transaction that applies them.
///
/// Order of use: ``init(_:)`` (which seals the local tail), then for each stretch ``begin(_:)`` and ``append`` for its changes, at
/// last ``finish()``. After a throw the transaction must be rolled back.
public final class JournalAppender {
    private let db: Database
    private let own: OriginID
    public private(set) var origins: OriginTable
    public private(set) var registry: ShapeRegistry
    private var nextSeq: Int64
    private var floor: Stamp
    private let localVersion: Int64
    private let localNumber: Int64
    private var current: (number: Int64, version: Int64)?
    private var statements: [Int: RawStatement] = [:]
    private var hasAppended = false

    public init(_ db: Database) throws {
        self.db = db
        try Seal.run(db)
        let reader = try JournalReader(db)
        own = reader.identity.origin
        origins = reader.origins
        registry = reader.registry
        nextSeq = try reader.lastSeq() + 1
        floor = reader.identity.sealedStamp
        guard let run = try reader.runs.last(), let number = origins.numbers[own] else {
            throw JournalError(.corrupt, "the journal has no local run")
        }
        localVersion = run.version(at: nextSeq)
        localNumber = number
    }

    /// The position that the next appended change gets.
    public var position: Int64 { nextSeq }

    /// The id of the local shape equal to a peer's, added when it is new.
    public func register(_ shape: TableShape) throws -> ShapeRegistry.Entry {
        try registry.register(shape, in: db)
    }

    /// Notes which columns of a shape rows here show: see ``ShapeRegistry/Entry/joined``.
    public func join(_ columns: [String], of shape: Int64) throws {
        try registry.join(columns, of: shape, in: db)
    }

    /// Starts a stretch of consecutive versions of one origin.
    public func begin(origin: OriginID, firstVersion: Int64, known: VersionVector) throws {
        if !hasAppended {
            hasAppended = true
            // The merge holds the write lock, so no local transaction is open: the tail ends with a whole one.
            try db.execute(
                sql: "UPDATE _journal SET tx = 1 WHERE seq = ? AND origin IS NULL", arguments: [nextSeq - 1])
            // An empty local run says nothing.
            try db.execute(sql: "DELETE FROM _journal_runs WHERE first_seq >= ?", arguments: [nextSeq])
        }
        var known = known
        known = VersionVector(known.entries.filter { $0.origin != origin })
        for entry in known.entries { _ = try origins.number(of: entry.origin, in: db) }
        let number = try origins.number(of: origin, in: db)
        let mark = origins.encode(known)
        if try !extendsLastRun(number: number, firstVersion: firstVersion, mark: mark) {
            try insertRun(number: number, firstVersion: firstVersion, mark: mark)
        }
        current = (number, firstVersion)
    }

    /// Appends one change of the stretch.
    ///
    /// - Parameters:
    ///   - shape: The local id from ``register(_:)``.
    ///   - values: As in ``Change/values``.
    /// - Returns: The position of the change.
    @discardableResult
    public func append(
        _ change: Change, shape: ShapeRegistry.Entry, values: ArraySlice<Value>
    ) throws -> Int64 {
        guard var current else { throw JournalError(.invalid, "append before begin") }
        let statement = try statement(columns: shape.shape.columns.count)
        let seq = nextSeq
        try statement.bind(seq, at: 1)
        try statement.bind(current.number, at: 2)
        try statement.bind(current.version, at: 3)
        if change.endsTransaction { try statement.bind(1, at: 4) } else { try statement.bindNull(at: 4) }
        try statement.bind(shape.id, at: 5)
        try statement.bind(change.operation.rawValue, at: 6)
        if change.life == 1 { try statement.bindNull(at: 7) } else { try statement.bind(change.life, at: 7) }
        try statement.bind(change.stamp.rawValue, at: 8)
        try bind(change, shape: shape.shape, values: values, to: statement)
        try statement.run()
        floor = max(floor, change.stamp)
        nextSeq += 1
        current.version += 1
        self.current = current
        return seq
    }

    /// Closes the appended part: what is written locally from now on knows it.
    public func finish() throws {
        guard hasAppended else { return }
        if let current { try origins.advance(current.number, to: current.version - 1, in: db) }
        try db.execute(
            sql: "INSERT INTO _journal_runs (first_seq, origin, first_version, floor, known) VALUES (?, ?, ?, ?, ?)",
            arguments: [
                nextSeq, localNumber, localVersion, floor.rawValue, origins.encode(origins.merged(except: own)),
            ])
        try db.execute(
            sql: "UPDATE _journal_replica SET sealed_seq = ?, sealed_stamp = ?",
            arguments: [nextSeq - 1, floor.rawValue])
    }

    // MARK: - Pieces

    /// A writer that merges nothing sends stretch after stretch with the same knowledge: they are one run.
    private func extendsLastRun(number: Int64, firstVersion: Int64, mark: Data) throws -> Bool {
        if let current { try origins.advance(current.number, to: current.version - 1, in: db) }
        let last = try Row.fetchOne(
            db, sql: "SELECT first_seq, origin, first_version, known FROM _journal_runs ORDER BY first_seq DESC LIMIT 1"
        )
        guard let last, last["origin"] == number, last["known"] == mark else { return false }
        let first: Int64 = last["first_seq"]
        let version: Int64 = last["first_version"]
        // What was captured here under an earlier name is read in another way than what comes back under it.
        if origins.retired.contains(number),
            try Bool.fetchOne(db, sql: "SELECT origin IS NULL FROM _journal WHERE seq = ?", arguments: [first]) ?? false
        {
            return false
        }
        return version + (nextSeq - first) == firstVersion
    }

    private func insertRun(number: Int64, firstVersion: Int64, mark: Data) throws {
        try db.execute(
            sql: "INSERT INTO _journal_runs (first_seq, origin, first_version, floor, known) VALUES (?, ?, ?, ?, ?)",
            arguments: [nextSeq, number, firstVersion, floor.rawValue, mark])
    }

    private func statement(columns count: Int) throws -> RawStatement {
        if let statement = statements[count] { return statement }
        let masks = (0..<JournalSchema.maskWords(forColumns: count)).map { JournalSchema.maskColumn($0) }
        let names =
            ["seq", "origin", "version", "tx", "shape", "op", "life", "stamp"] + masks + (0..<count).map { "v\($0)" }
        let statement = try RawStatement(
            db,
            "INSERT INTO _journal (\(names.joined(separator: ", "))) "
                + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))")
        statements[count] = statement
        return statement
    }

    private func bind(_ change: Change, shape: TableShape, values: ArraySlice<Value>, to statement: RawStatement) throws
    {
        let firstMask: Int32 = 9
        let wordCount = Int32(JournalSchema.maskWords(forColumns: shape.columns.count))
        let firstValue = firstMask + wordCount
        let carriesAll =
            change.operation == .insert && change.values.count == shape.columns.count
        if carriesAll || change.operation == .delete {
            for word in 0..<wordCount { try statement.bindNull(at: firstMask + word) }
            if change.isKeyChange { try statement.bind(1, at: firstMask) }
        } else {
            let words = change.mask.words
            for word in 0..<Int(wordCount) {
                try statement.bind(
                    word < words.count ? Int64(bitPattern: words[word]) : 0, at: firstMask + Int32(word))
            }
        }
        var next = values.startIndex
        for index in 0..<shape.keyCount {
            try statement.bindBorrowed(values[next], at: firstValue + Int32(index))
            next += 1
        }
        if carriesAll {
            for index in shape.keyCount..<shape.columns.count {
                try statement.bindBorrowed(values[next], at: firstValue + Int32(index))
                next += 1
            }
        } else {
            for index in shape.keyCount..<shape.columns.count {
                if change.mask.contains(index) {
                    try statement.bindBorrowed(values[next], at: firstValue + Int32(index))
                    next += 1
                } else {
                    try statement.bindNull(at: firstValue + Int32(index))
                }
            }
        }
    }
}
