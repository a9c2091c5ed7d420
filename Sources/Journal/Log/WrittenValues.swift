import GRDB

/// `_journal_written`: what writers wrote in the place of values that the journal holds with another meaning.
///
/// When two machines mint one key for two rows, one of the rows gets another key. The journal then holds its
/// entries, and references to it, with the new key, so that every reader of the journal finds the row's
/// history under one key. Peers get each entry as its writer wrote it, because they decide by themselves what
/// it means.
package final class WrittenValues {
    private let statement: RawStatement

    /// - Returns: nil when every entry is as its writer wrote it.
    /// - Throws: Errors of SQLite.
    package init?(_ db: Database) throws {
        do {
            let isUsed = try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM _journal_written)"))
            guard isUsed == true else { return nil }
        } catch let error as DatabaseError where error.message?.hasPrefix("no such table") == true {
            // The file of an earlier release.
            return nil
        }
        statement = try RawStatement(db, "SELECT col, value FROM _journal_written WHERE seq = ?")
    }

    /// Returns the values of the entry at `seq` that its writer wrote otherwise, by the index of the column
    /// in the entry's shape.
    ///
    /// - Throws: ``JournalError`` with the code for the SQLite error.
    package func values(at seq: Int64) throws -> [Int: Value] {
        try statement.bind(seq, at: 1)
        defer { statement.reset() }
        var values: [Int: Value] = [:]
        while try statement.step() { values[Int(statement.int64(0))] = statement.column(1) }
        return values
    }

    /// Puts what the writer wrote into the last values of `values`, which are those of the entry at `seq`.
    ///
    /// - Parameters:
    ///   - count: The number of the entry's values.
    ///   - mask: The entry's mask.
    func restore(_ values: inout [Value], count: Int, at seq: Int64, keyCount: Int, mask: ColumnMask) throws {
        for (column, value) in try self.values(at: seq) {
            guard let offset = mask.offset(ofColumn: column, keyCount: keyCount), offset < count else { continue }
            values[values.count - count + offset] = value
        }
    }

    /// A value of an entry that has another meaning than its writer wrote.
    package struct Meaning: Sendable {
        package let seq: Int64
        package let column: Int
        /// The value that readers of the journal find.
        package let value: Value
        /// What the writer wrote.
        package let written: Value

        package init(seq: Int64, column: Int, value: Value, written: Value) {
            self.seq = seq
            self.column = column
            self.value = value
            self.written = written
        }
    }

    /// Replaces values of entries, and keeps what their writers wrote.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func replace(_ meanings: [Meaning], _ db: Database) throws {
        for (column, meanings) in Dictionary(grouping: meanings, by: \.column).sorted(by: { $0.key < $1.key }) {
            let update = try RawStatement(db, "UPDATE _journal SET v\(column) = ? WHERE seq = ?")
            for meaning in meanings {
                try update.bind(meaning.value, at: 1)
                try update.bind(meaning.seq, at: 2)
                try update.run()
            }
        }
        try note(meanings, db)
    }

    /// Notes what the writers of entries wrote, where that is not what the journal holds.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func note(_ meanings: [Meaning], _ db: Database) throws {
        guard !meanings.isEmpty else { return }
        let delete = try RawStatement(db, "DELETE FROM _journal_written WHERE seq = ? AND col = ?")
        let insert = try RawStatement(
            db, "INSERT OR REPLACE INTO _journal_written (seq, col, value) VALUES (?, ?, ?)")
        for meaning in meanings {
            let isKept = meaning.value != meaning.written
            let statement = isKept ? insert : delete
            try statement.bind(meaning.seq, at: 1)
            try statement.bind(Int64(meaning.column), at: 2)
            if isKept { try statement.bind(meaning.written, at: 3) }
            try statement.run()
        }
    }
}

extension ColumnMask {
    /// The place of a column among the values of a change (``Change/values``); nil when the change does not
    /// carry it.
    package func offset(ofColumn column: Int, keyCount: Int) -> Int? {
        if column < keyCount { return column }
        guard contains(column) else { return nil }
        var offset = keyCount
        forEach { if $0 >= keyCount, $0 < column { offset += 1 } }
        return offset
    }
}
