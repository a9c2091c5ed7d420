/// A secret that authenticates this replica to a peer. It prints as a placeholder, so that it cannot get into
/// a log by accident.
public struct BearerToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let value: String

    /// - Throws: ``SyncError/Code/configuration`` for an empty token, and for one with other characters than
    ///   visible ASCII (RFC 6750, section 2.1).
    public init(_ value: String) throws(SyncError) {
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SyncError(
                .configuration, "The token is empty or has characters that a token cannot have",
                hint: "Use letters, digits and punctuation on one line.")
        }
        self.value = value
    }

    public var description: String { "<token>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
