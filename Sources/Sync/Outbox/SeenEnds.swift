import Foundation
import GRDB
import Journal
import Synchronization

/// The positions of the journal at which snapshots have ended. Each is the end of a transaction
/// (``TransactionEnds``).
///
/// A daemon keeps them beside the database (``EndsFile``): what it has seen being written stays seen after a restart.
final class SeenEnds: Sendable {
    /// When there are more, every second one is forgotten: what lies between the others stays together.
    static let most = 65_536
    /// How many may be lost when the process is killed.
    static let mostUnkept = 64

    private struct State {
        /// The identity of the file. A file with another one has another history.
        var origin = Data()
        var ends: [EndsFile.End] = []
        /// nil while nothing is kept.
        var file: EndsFile?
        /// How many of ``ends`` the file has; nil when it may hold something else.
        var kept: Int?
    }

    private let state = Mutex(State())

    /// Notes the end of a snapshot.
    ///
    /// - Parameter code: The ``EntryWitness/code`` of the entry at that position. It is asked for when the position
    ///   is new.
    func note(_ position: FrameSource.Position, code: @autoclosure () throws -> UInt64) rethrows {
        try state.withLock { state in
            if state.origin != position.origin {
                state.origin = position.origin
                state.ends = []
                state.kept = nil
            }
            guard position.seq > state.ends.last?.seq ?? -1 else { return }
            state.ends.append(.init(seq: position.seq, code: try code()))
            if state.ends.count > SeenEnds.most {
                state.ends = state.ends.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
                state.kept = nil
            }
            if state.ends.count - (state.kept ?? 0) >= SeenEnds.mostUnkept { SeenEnds.keep(&state) }
        }
    }

    /// Notes the end of the snapshot of `db`.
    func note(_ position: FrameSource.Position, _ db: Database) throws {
        try note(position, code: try EntryWitness.code(at: position.seq, db))
    }

    /// The positions in a snapshot that ends at `position`, ascending. Another snapshot may have ended later.
    func positions(upTo position: FrameSource.Position) -> [Int64] {
        state.withLock { state in
            guard state.origin == position.origin else { return [] }
            return state.ends.prefix { $0.seq <= position.seq }.map(\.seq)
        }
    }

    // MARK: - Beside the database

    /// Takes over what a daemon has kept, as far as it is about this history.
    ///
    /// - Throws: Errors of the database. A file that is missing or damaged is no error.
    func load(_ file: EndsFile, of replica: Replica) throws {
        guard let (origin, all) = file.read(), !all.isEmpty else { return }
        try replica.read { db in
            let position = try FrameSource.Position(db)
            let ends = all.prefix { $0.seq <= position.seq }
            // A file that went back to an older state, and was written since, has another entry there.
            guard origin == position.origin, let last = ends.last,
                try last.seq <= Horizon(db).position || EntryWitness.code(at: last.seq, db) == last.code
            else { return }
            state.withLock { state in
                guard state.ends.isEmpty else { return }
                state.origin = origin
                state.ends = Array(ends)
                state.kept = ends.count == all.count ? ends.count : nil
            }
        }
    }

    /// Writes to `file` from now on.
    func startKeeping(in file: EndsFile) { state.withLock { $0.file = file } }

    /// Writes what is not kept yet.
    func keep() { state.withLock { SeenEnds.keep(&$0) } }

    private static func keep(_ state: inout State) {
        guard let file = state.file, state.kept != state.ends.count else { return }
        // What is not kept now is kept with the next ends.
        state.kept = file.write(state.ends, after: state.kept, of: state.origin) ? state.ends.count : nil
    }
}
