import Journal

extension Inbox {
    /// What other replicas are known to have merged.
    ///
    /// - Parameter lease: How long a replica counts after it was last seen, in milliseconds.
    /// - Throws: Errors of the file.
    package func stableHorizon(lease: Int64? = nil) throws -> StableHorizon {
        try replica.read { try acknowledgements.stableHorizon($0, lease: lease ?? limits.leaseMilliseconds) }
    }

    /// Takes what the sender of a hello has merged, and what it heard of others.
    ///
    /// - Throws: As ``AcknowledgementBook/take(_:from:)``.
    func hear(_ hello: Hello) throws {
        acknowledgements.note(wallMilliseconds: hello.wallMilliseconds, of: hello.origin)
        try acknowledgements.take(hello.acknowledgements, from: hello.origin)
    }
}
