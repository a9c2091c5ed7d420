import Testing

@testable import Sync

/// One input of the catalogue in docs/RELIABILITY.md, with its required outcome.
///
/// For every input, each driver also asserts: no table changes unless the outcome says so, the process lives
/// and answers the next good request, memory and time stay bounded, and no message and no log contains a
/// token or the content of a row.
struct HostileInput: Sendable, CustomTestStringConvertible {
    /// The receiver of the bytes.
    enum Target: Sendable {
        /// An endpoint in this process. The bytes are the body of a request.
        case endpoint(Route, @Sendable (HostileScene) throws -> [UInt8])
        /// A daemon. The bytes are everything that is sent on one connection.
        case daemon(@Sendable (HostileScene) throws -> [UInt8])
        /// `syncd sync` against a server with this answer, chosen by the path of the request.
        case client(@Sendable (HostileScene, String) throws -> HostileServer.Behaviour)
        /// `syncd` with these arguments, whose files the workspace prepares.
        case command(@Sendable (Workspace) async throws -> [String])
    }

    /// The requests of an endpoint.
    enum Route: Sendable { case hello, pull, push, digest }

    enum Outcome: Sendable {
        /// Refused with one of these codes; no table changes.
        case refused(Set<SyncError.Code>)
        /// A daemon answers with one of these statuses; 0 when it closes the connection without an answer. No
        /// table changes.
        case status(Set<Int>)
        /// Served, and no table changes.
        case served
        /// Accepted, and only the journal's own tables change.
        case kept
        /// Accepted, and then the SQL returns 1.
        case applied(String)
        /// A command ends with status 1 and with this text in its sentence or hint. Nothing changes.
        case explained(String)
    }

    /// The number in the catalogue: 1 for B1.
    let entry: Int
    let name: String
    let target: Target
    let outcome: Outcome

    init(_ entry: Int, _ name: String, _ target: Target, _ outcome: Outcome) {
        self.entry = entry
        self.name = name
        self.target = target
        self.outcome = outcome
    }

    var isForEndpoint: Bool {
        if case .endpoint = target { true } else { false }
    }

    var testDescription: String { "B\(entry): \(name)" }

    /// The statuses of a daemon for a broken or forbidden request.
    static let badRequest: Outcome = .status([400])

    static let all: [HostileInput] =
        framing + resources + encodings + batches + values + names + rows + clocks + identities + access + answers
        + files
}
