import Testing

@testable import Sync

/// One input of the catalogue in docs/RELIABILITY.md, and what has to become of it.
///
/// Besides the outcome, each driver asserts the same of every input: no table changes unless the outcome says so, the process
/// lives and answers the next good request, memory and time stay bounded, and no token and no row stands in what is told or
/// logged.
struct HostileInput: Sendable, CustomTestStringConvertible {
    /// Who gets the bytes.
    enum Target: Sendable {
        /// An endpoint in this process: the body of a request.
        case endpoint(Route, @Sendable (HostileScene) throws -> [UInt8])
        /// A daemon: everything that is sent on one connection.
        case daemon(@Sendable (HostileScene) throws -> [UInt8])
        /// `syncd sync` against a server that answers so, by the path of the request.
        case client(@Sendable (HostileScene, String) throws -> HostileServer.Behaviour)
        /// `syncd` with these arguments, of which the workspace prepares the files.
        case command(@Sendable (Workspace) async throws -> [String])
    }

    /// The requests of an endpoint.
    enum Route: Sendable { case hello, pull, push, digest }

    enum Outcome: Sendable {
        /// Refused with one of these codes; no table changes.
        case refused(Set<SyncError.Code>)
        /// A daemon answers with one of these statuses, or 0: it closes the connection without a word. No table changes.
        case status(Set<Int>)
        /// Served, and no table changes.
        case served
        /// Taken, and only the journal's own tables change.
        case kept
        /// Taken, and then the SQL gives 1.
        case applied(String)
        /// A command ends with status 1, and this in its one sentence and hint. Nothing changes.
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

    /// The statuses with which a daemon says that a request is broken or not allowed.
    static let badRequest: Outcome = .status([400])

    static let all: [HostileInput] =
        framing + resources + encodings + batches + values + names + rows + clocks + identities + access + answers
        + files
}
