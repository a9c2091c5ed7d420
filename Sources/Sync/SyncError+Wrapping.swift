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

    private init(_ error: JournalError) {
        let code: Code =
            switch error.code {
            case .busy: .busy
            case .readOnly, .displaced: .storage
            case .clusterMismatch: .otherCluster
            case .unsupportedFormat: .unsupportedVersion
            case .sqlite: Code(sqlite: error.sqliteCode ?? 0)
            default: .failed
            }
        self.init(code, error.message, hint: error.hint)
    }

    private init(_ error: DatabaseError) {
        // The SQL and its arguments hold names and values; the code's own words do not.
        self.init(
            Code(sqlite: error.extendedResultCode.rawValue), "SQLite: \(error.resultCode)",
            hint: JournalError(error, operation: "").hint ?? "See the log of the replica's machine.")
    }
}

extension SyncError.Code {
    /// The code for SQLite's primary result code, which is the lowest byte (https://sqlite.org/rescode.html).
    fileprivate init(sqlite code: Int32) {
        switch code & 0xFF {
        case 5, 6: self = .busy
        case 8, 10, 13, 14: self = .storage
        default: self = .failed
        }
    }
}
