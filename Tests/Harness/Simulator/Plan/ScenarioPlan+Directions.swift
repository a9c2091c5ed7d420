import Sync
import TestSupport

extension ScenarioPlan {
    /// Uses a stream of its own, as archives do.
    static func kindsOfDirections(_ streams: Streams) -> Set<FaultKind> {
        var random = streams.stream(.directions)
        return random.chance(25) ? [.directions] : []
    }

    /// Draws in which direction machines exchange that follow each other. Changes still travel both ways between them.
    static func directions(
        _ follows: [[Int]], _ kinds: Set<FaultKind>, _ streams: Streams
    ) -> [Link: SyncDirection] {
        guard kinds.contains(.directions) else { return [:] }
        var random = streams.stream(.directions, 1)
        var directions: [Link: SyncDirection] = [:]
        for a in follows.indices {
            for b in follows[a] where b < a && follows[b].contains(a) {
                let (there, back) = random.pick([
                    (SyncDirection.push, SyncDirection.push), (.pull, .pull), (.both, .push), (.both, .pull),
                    (.push, .both), (.pull, .both), (.both, .both),
                ])
                directions[Link(from: a, to: b)] = there
                directions[Link(from: b, to: a)] = back
            }
        }
        return directions
    }
}
