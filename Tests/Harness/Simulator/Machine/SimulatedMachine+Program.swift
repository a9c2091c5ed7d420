import GRDB
import MergeModel
import TestSupport

/// The machine's program, which writes and migrates its file.
extension SimulatedMachine {
    /// The outcome of a transaction.
    enum WriteOutcome: Equatable {
        case committed
        /// The transaction was refused or rolled back.
        case failed
        /// The program died before the commit.
        case died
        /// The commit ended with an error of the disk or with the death of the processes. The transaction may
        /// be in the file, or appear later.
        case unconfirmed(code: Int32)
    }

    static let codeOfFullDisk = ResultCode.SQLITE_FULL.rawValue

    func write(_ statements: [String], isMarked: Bool, dies: Bool) throws -> WriteOutcome {
        enter()
        defer { leave() }
        guard writer.execute("BEGIN IMMEDIATE") == 0 else { return .failed }
        for statement in statements {
            // A statement that a constraint refuses is a part of the history, too.
            _ = writer.execute(statement)
            if !writer.isInTransaction { return .failed }
        }
        if isMarked {
            let code = writer.execute(
                "UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal) AND origin IS NULL")
            guard code == 0 || hasFailed else { throw Violation("P22", "a mark is refused: \(writer.lastMessage)") }
            guard code == 0 else {
                try giveUp()
                return .failed
            }
        }
        if dies {
            try restartWriter()
            return .died
        }
        let code = writer.execute("COMMIT")
        guard code == 0, !isDead else {
            try giveUp()
            return hasFailed ? .unconfirmed(code: code) : .failed
        }
        committed()
        return .committed
    }

    /// Rolls the transaction back. When SQLite cannot, the program ends and starts again.
    private func giveUp() throws {
        guard !isDead, writer.isInTransaction else { return }
        _ = writer.execute("ROLLBACK")
        if writer.isInTransaction { try restartWriter() }
    }

    /// - Returns: False when the addition was there before, the file is locked, or the disk failed.
    func migrate(_ number: Int) throws -> Bool {
        guard !additions.contains(number) else { return false }
        enter()
        defer { leave() }
        let statements = HistorySchema.sql(of: history.additions[number])
        let code = writer.execute((["BEGIN IMMEDIATE"] + statements + ["COMMIT"]).joined(separator: ";"))
        guard code == 0, !isDead else {
            try giveUp()
            return false
        }
        try lookAtSchema()
        committed()
        return true
    }
}
