import Journal
import Sync

/// What a token may be used for.
enum TokenScope: String, Sendable, Hashable, CaseIterable {
    /// The protocol between replicas. It reads and writes every row.
    case replicate
    /// Of that, what reads: the changes and the content of this replica, and copies of it.
    case pull
    /// Of that, what writes: sending changes to this replica.
    case push
    /// Status, metrics, the page and waiting: what changes nothing.
    case read
    /// What an operator decides: reloading and the ledger. It includes ``read``.
    case admin
}

/// The tokens that a daemon accepts. It knows their digests only.
struct AccessTokens: Sendable {
    /// One token.
    struct Entry: Sendable {
        /// Whose token it is. Several tokens may have one name while they are exchanged.
        let name: String
        let scopes: Set<TokenScope>
        let digest: [UInt8]

        /// - Parameter scopes: As they were given; `admin` brings `read` with it.
        init(name: String, scopes: Set<TokenScope>, digest: [UInt8]) {
            self.name = name
            self.scopes = scopes.contains(.admin) ? scopes.union([.read]) : scopes
            self.digest = digest
        }
    }

    let entries: [Entry]

    init(_ entries: [Entry] = []) { self.entries = entries }

    var isEmpty: Bool { entries.isEmpty }

    /// What the caller with this token may do; nil when no token is the given one.
    func scopes(of candidate: some StringProtocol) -> Set<TokenScope>? { entry(of: candidate)?.scopes }

    /// The token that is the given one; nil when there is none.
    ///
    /// It takes the same time for all candidates of one length: each of the digests is compared, and all of
    /// their bytes.
    func entry(of candidate: some StringProtocol) -> Entry? {
        let digest = SHA256.digest(of: Array(candidate.utf8))
        var found: Entry?
        for entry in entries where SHA256.areEqual(entry.digest, digest) { found = found ?? entry }
        return found
    }
}

extension AccessTokens.Entry: Equatable {
    static func == (first: Self, second: Self) -> Bool {
        first.name == second.name && first.scopes == second.scopes && SHA256.areEqual(first.digest, second.digest)
    }
}

extension AccessTokens: Equatable {}

extension AccessTokens.Entry: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the digest: a dump of an error must not have it.
    var description: String { "\(name): \(scopes.map(\.rawValue).sorted().joined(separator: ","))" }
    var debugDescription: String { description }
}

extension Token {
    /// The token of `--token-file` as one that callers may use: between replicas, and for reading.
    var entry: AccessTokens.Entry {
        AccessTokens.Entry(name: "token-file", scopes: [.replicate, .read], digest: digest)
    }
}
