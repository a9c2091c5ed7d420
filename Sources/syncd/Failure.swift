import ArgumentParser
import Foundation
import GRDB
import Journal
import Sync

/// A failure of a command: one sentence for the person at the terminal, and a hint about what to do.
struct Failure: Error, Sendable, Hashable {
    /// Without a full stop.
    let message: String
    /// What to do about it; never empty.
    let hint: String

    init(_ message: String, hint: String) {
        self.message = message
        self.hint = hint
    }

    /// The failure of one of several databases: its sentence begins with the name.
    ///
    /// - Parameter name: nil for the only database.
    init(of name: String?, _ error: any Error) {
        let failure =
            Failure(describing: error)
            ?? Failure("\(error)", hint: "This error is unexpected. Report it, with the command that caused it.")
        guard let name else {
            self = failure
            return
        }
        self.init("\(name): \(failure.message)", hint: failure.hint)
    }

    /// Describes any error that a command can end with; nil for an error of the argument parser, which prints
    /// its own message and exits with 64.
    init?(describing error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let mistakes as ConfigurationMistakes: self = mistakes.failure
        case let error as JournalError: self.init(error.message, hint: error.hint ?? error.code.advice)
        case let error as SyncError:
            self.init(
                error.message,
                hint: error.hint ?? error.code.advice ?? "Try again; the log of the peer may say more.")
        case let error as DatabaseError:
            let known = JournalError(error, operation: "")
            // The message of GRDB may quote SQL and arguments; SQLite's own names at most a table.
            self.init(
                "SQLite reported: \(error.message ?? "error \(error.extendedResultCode.rawValue)")",
                hint: known.hint ?? known.code.advice)
        case is CancellationError: self.init("The command was interrupted", hint: "Run it again.")
        case is CleanExit, is ExitCode, is ValidationError: return nil
        case let error as POSIXError:
            self.init(
                String(cString: strerror(error.code.rawValue)),
                hint: "Check the file, its permissions and the free space on its disk.")
        default:
            // The argument parser throws its own parsing errors as an internal type.
            guard !String(reflecting: type(of: error)).hasPrefix("ArgumentParser.") else { return nil }
            self.init("\(error)", hint: "This error is unexpected. Report it, with the command that caused it.")
        }
    }
}

extension SyncError {
    /// The failure of an exchange: its sentence names the peer, and it always has a hint.
    func failure(with peer: PeerConfiguration) -> Failure {
        Failure(
            message.contains(peer.name) ? message : "\(peer.name): \(message)",
            hint: hint ?? code.advice ?? peer.address.hint)
    }
}

extension PeerConfiguration.Address {
    /// What to check when an exchange fails and there is no better hint.
    fileprivate var hint: String {
        switch self {
        case .http: "Is this the address of a syncd, and is that daemon running? Its log may say more."
        case .file: "Is this the file of another replica? `syncd status` on it says more."
        case .archive: "`syncd store status` on that address says what is there."
        }
    }
}
