import Foundation
import Journal
import Synchronization

/// The positions of the journal at which snapshots of this process have ended. Each is the end of a
/// transaction (``TransactionEnds``).
final class SeenEnds: Sendable {
    /// When there are more, every second one is forgotten: what lies between the others stays together.
    static let most = 65_536

    private struct State {
        /// The identity of the file. A file with another one has another history.
        var origin = Data()
        var positions: [Int64] = []
    }

    private let state = Mutex(State())

    /// Notes the end of a snapshot.
    func note(_ position: FrameSource.Position) {
        state.withLock { state in
            if state.origin != position.origin { state = State(origin: position.origin) }
            guard position.seq > state.positions.last ?? -1 else { return }
            state.positions.append(position.seq)
            guard state.positions.count > SeenEnds.most else { return }
            state.positions = state.positions.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        }
    }

    /// The positions in a snapshot that ends at `position`, ascending. Another snapshot may have ended later.
    func positions(upTo position: FrameSource.Position) -> [Int64] {
        state.withLock { state in
            guard state.origin == position.origin else { return [] }
            return Array(state.positions.prefix { $0 <= position.seq })
        }
    }
}
