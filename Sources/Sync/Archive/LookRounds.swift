/// When a reader may ask for packs that no head announces. Each such look is a request, mostly in vain. So each stream is
/// looked at once in a round, however often news of single streams end a pull (decision 0040), and once more when its
/// writer should have written another pack since the one that was read.
///
/// The clocks of writers and of the reader differ. So what counts is the gap between two packs of a writer, and how much
/// later a pack was read than those behind which there was nothing: these had been written just before.
struct LookRounds {
    /// How a stream was written and read lately.
    private struct Rhythm {
        /// When the last pack that was read was written, in milliseconds since 1970 by its writer's clock.
        var written: Int64
        /// The milliseconds from then until it was read, by two clocks.
        var delay: Int64
        /// The same of the last packs behind which there was nothing.
        var shortest: [Int64] = []
    }

    /// The time between two rounds, in milliseconds.
    let interval: Int64
    /// When the round began, in steady milliseconds; nil before the first one.
    private var began: Int64?
    private var lookedAt: Set<StreamID> = []
    private var rhythms: [StreamID: Rhythm] = [:]

    /// How many delays are remembered: a clock that was set makes them wrong for as many looks in vain.
    private static let remembered = 8

    init(interval: Int64) { self.interval = interval }

    /// Begins a round, when the last one is long enough ago.
    mutating func begin(_ now: Int64) {
        guard began.map({ now - $0 >= interval }) ?? true else { return }
        began = now
        lookedAt = []
    }

    /// The time until the next round, in milliseconds.
    func left(_ now: Int64) -> Int64 { began.map { max(0, $0 + interval - now) } ?? 0 }

    /// True once for each stream in a round.
    mutating func mayLook(at id: StreamID) -> Bool { lookedAt.insert(id).inserted }

    /// Notes a pack that was read.
    ///
    /// - Parameters:
    ///   - time: When it was written, in milliseconds since 1970 by its writer's clock.
    ///   - now: When it was read, in steady milliseconds.
    mutating func passed(_ id: StreamID, written time: Int64, at now: Int64) {
        // Times of an archive can be any.
        let delay = now &- time
        let gap = rhythms[id].map { time &- $0.written }
        var rhythm = Rhythm(written: time, delay: delay, shortest: rhythms[id]?.shortest ?? [])
        let shortest = rhythm.shortest.min()
        if let shortest, delay < shortest { rhythm.shortest = [delay] }
        rhythms[id] = rhythm
        guard let gap, 0..<interval ~= gap else {
            lookedAt.insert(id)
            return
        }
        // A tenth is left for writers that do not keep to their gap exactly.
        let isDue = shortest.map { delay &- $0 >= gap - gap / 10 } ?? true
        if isDue { lookedAt.remove(id) } else { lookedAt.insert(id) }
    }

    /// Notes that there is nothing behind the last pack of a stream.
    mutating func missed(_ id: StreamID) {
        guard let delay = rhythms[id]?.delay, let shortest = rhythms[id]?.shortest else { return }
        rhythms[id]?.shortest = shortest.suffix(LookRounds.remembered - 1) + [delay]
    }
}
