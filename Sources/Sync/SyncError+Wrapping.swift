import GRDB
import Journal

extension SyncError {
    /// Converts any error of an exchange to the error to show.
    public init(wrapping error: any Error) {
        switch error {
        case let error as SyncError: self = error
        case let error as WireError: self.init(error)
        case let error as JournalError: self.init(error)
        case let error as DatabaseError: self.init(error)
        case is CancellationError: self.init(.cancelled, "The exchange was stopped")
        default: self.init(.failed, "The exchange failed: \(error)")
        }
    }

    /// Runs `body`, and converts what it throws.
    static func wrapping<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            throw SyncError(wrapping: error)
        }
    }

    private init(_ error: JournalError) {
        let code: Code =
            switch error.code {
            case .busy: .busy
            case .readOnly, .displaced: .storage
            case .clusterMismatch: .otherCluster
            case .unsupportedFormat: .unsupportedVersion
            case .sqlite: error.sqliteCode.map { Code(SQLiteFailure(code: $0).meaning) } ?? .failed
            default: .failed
            }
        self.init(code, error.message, hint: error.hint)
    }

    private init(_ error: DatabaseError) {
        // The SQL and its arguments hold names and values; the code's own words do not.
        let failure = SQLiteFailure(error.extendedResultCode)
        self.init(
            Code(failure.meaning), "SQLite: \(error.resultCode)",
            hint: failure.hint ?? "See the log of the replica's machine.")
    }
}

extension SyncError.Code {
    fileprivate init(_ meaning: SQLiteFailure.Meaning) {
        switch meaning {
        case .busy: self = .busy
        case .readOnly, .cannotOpen, .inputOutput, .full: self = .storage
        default: self = .failed
        }
    }
}
