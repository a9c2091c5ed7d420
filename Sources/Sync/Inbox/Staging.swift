import Foundation
import GRDB
import Journal

/// The staged beginnings of transactions whose ends have not arrived, in `_journal_inbox`.
///
/// A transaction larger than a batch arrives in parts. Each part is durable before it is acknowledged, and
/// none is visible before the last has arrived. The parts are read back one at a time, so memory is bounded
/// by one batch.
struct Staging {
    let db: Database

    /// `vector`, raised by the staged parts.
    func raise(_ vector: VersionVector) throws -> VersionVector {
        var vector = vector
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: "SELECT origin, max(last_version) AS last_version FROM _journal_inbox GROUP BY origin"))
        while let row = try rows.next() {
            let bytes: Data = row["origin"]
            guard let origin = OriginID(bytes: bytes) else { continue }
            vector.advance(origin, to: row["last_version"])
        }
        return vector
    }

    func put(_ part: ChangeBatch) throws {
        guard let run = part.runs.first else { return }
        try db.execute(
            sql: "INSERT INTO _journal_inbox (origin, first_version, last_version, batch) VALUES (?, ?, ?, ?)",
            arguments: [
                Data(run.origin.bytes), run.firstVersion, run.lastVersion, Data(try BatchCodec.encode(part)),
            ])
    }

    func isEmpty() throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT NOT EXISTS (SELECT 1 FROM _journal_inbox)")) ?? true
    }

    /// The stamp of the first staged change of `origin`; zero when there is none.
    func firstStamp(of origin: OriginID, limits: Limits) throws -> Stamp {
        let data = try Data.fetchOne(
            db, sql: "SELECT batch FROM _journal_inbox WHERE origin = ? ORDER BY first_version LIMIT 1",
            arguments: [Data(origin.bytes)])
        return try data.flatMap { try BatchCodec.decode(Array($0), limits: limits).changes.first?.stamp } ?? .zero
    }

    /// Passes the staged parts of `origin` to `body`, oldest first, and removes them.
    ///
    /// - Parameter last: Changes after this version stay staged.
    func take(
        _ origin: OriginID, through last: Int64 = .max, limits: Limits, _ body: (ChangeBatch) throws -> Void
    ) throws {
        let ids = try Int64.fetchAll(
            db, sql: "SELECT id FROM _journal_inbox WHERE origin = ? AND first_version <= ? ORDER BY first_version",
            arguments: [Data(origin.bytes), last])
        for id in ids {
            guard
                let data = try Data.fetchOne(db, sql: "SELECT batch FROM _journal_inbox WHERE id = ?", arguments: [id])
            else { continue }
            let batch = try BatchCodec.decode(Array(data), limits: limits)
            try db.execute(sql: "DELETE FROM _journal_inbox WHERE id = ?", arguments: [id])
            guard let run = batch.runs.first, run.lastVersion > last else {
                try body(batch)
                continue
            }
            let cut = run.changes.upperBound - Int(run.lastVersion - last)
            try put(batch.part(of: run, changes: cut..<run.changes.upperBound))
            try body(batch.part(of: run, changes: run.changes.lowerBound..<cut))
        }
    }

    /// Drops the staged parts of `origin`.
    func drop(_ origin: OriginID) throws {
        try db.execute(sql: "DELETE FROM _journal_inbox WHERE origin = ?", arguments: [Data(origin.bytes)])
    }
}

extension ChangeBatch {
    /// The changes at `range`, which lie in `run`, as a batch of their own.
    func part(of run: Run, changes range: Range<Int>) -> ChangeBatch {
        if runs.count == 1, range == run.changes { return self }
        var part = ChangeBatch()
        part.shapes = shapes
        guard let first = changes[range].first, let last = changes[range].last else { return part }
        let offset = first.values.lowerBound
        part.values = Array(values[offset..<last.values.upperBound])
        part.changes = changes[range].map { change in
            var change = change
            change.values = (change.values.lowerBound - offset)..<(change.values.upperBound - offset)
            return change
        }
        let version = run.firstVersion + Int64(range.lowerBound - run.changes.lowerBound)
        part.runs = [Run(origin: run.origin, firstVersion: version, changes: 0..<range.count, known: run.known)]
        return part
    }
}
