import Journal
import Logging

extension Inbox {
    /// What other replicas are known to have merged.
    ///
    /// - Parameter lease: How long a replica counts after it was last seen, in milliseconds.
    /// - Throws: Errors of the file.
    package func stableHorizon(lease: Int64? = nil) throws -> StableHorizon {
        try replica.read { try acknowledgements.stableHorizon($0, lease: lease ?? limits.leaseMilliseconds) }
    }

    /// Takes what the sender of a hello has merged, and what it heard of others. A failure is logged: it only
    /// delays compaction, and must not end the exchange.
    func hear(_ hello: Hello) {
        acknowledgements.note(wallMilliseconds: hello.wallMilliseconds, of: hello.origin)
        noting { try acknowledgements.take(hello.acknowledgements, from: hello.origin) }
    }

    /// Writes what was heard beside the file, before the process ends. A failure is logged.
    func keepAcknowledgements() { noting { try acknowledgements.flush() } }

    private func noting(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            logger?.warning("What other replicas have merged cannot be noted: \(SyncError(wrapping: error))")
        }
    }
}
