import GRDB
import Journal
import Logging

/// One run of a statement, for ``Database/Options/profile``. Contains no values of rows.
public struct StatementProfile: Sendable {
    /// The text of the statement, with `?` in place of values.
    public let sql: String
    /// The time from the first step to the last, including waits for locks, with SQLite's resolution of one
    /// millisecond (https://sqlite.org/c3ref/c_trace.html).
    public let duration: Duration
    /// True for a statement that Tandem runs for itself: transactions, capture, the journal, following commits,
    /// checks of the schema. False for the SQL of the program, and for the statements of models and queries.
    public let isInternal: Bool
}

extension Replica.Options {
    /// Takes over the settings of a database's options.
    init(_ options: Database.Options, path: String) {
        self.init()
        busyTimeout = options.busyTimeout
        durability = options.durability
        logger = options.logger
        maximumReaders = max(1, options.maximumReaders)
        if let unlock = options.unlock { self.unlock = { try unlock(Connection(grdb: $0)) } }
        prepare = { db in
            try DecimalFunctions.register(on: db)
            for function in options.functions { db.add(function: function.function) }
            options.trace(db, path: path)
            try StatementOwner.program.runs { try options.prepare?(Connection(grdb: db)) }
        }
    }
}

extension Database.Options {
    /// Makes SQLite report how long each statement of the connection takes, when the options ask for it.
    fileprivate func trace(_ db: GRDB.Database, path: String) {
        guard profile != nil || slowStatement != nil else { return }
        db.trace(options: .profile) { event in
            guard case .profile(let statement, let seconds) = event else { return }
            let run = StatementProfile(
                sql: statement.sql, duration: .seconds(seconds), isInternal: StatementOwner.isInternal(statement.sql))
            profile?(run)
            if let slowStatement, run.duration >= slowStatement {
                logger?.warning(
                    "\(path): a statement took \(run.duration)\(run.isInternal ? ", internally" : ""): \(run.sql)")
            }
        }
    }
}
