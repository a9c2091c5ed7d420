/// When a reader may ask for packs that no head announces. Each such look is a request, mostly in vain. So each stream is
/// looked at once in a round, however often news of single streams end a pull (decision 0040).
struct LookRounds {
    /// The time between two rounds, in milliseconds.
    let interval: Int64
    /// When the round began, in steady milliseconds; nil before the first one.
    private var began: Int64?
    private var lookedAt: Set<StreamID> = []
    /// When the last pack of each stream that was read was written, in milliseconds since 1970 by its writer's clock.
    private var written: [StreamID: Int64] = [:]

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

    /// Notes a pack that was read. A writer that writes faster than rounds come has perhaps written more by now; another
    /// one has not.
    mutating func passed(_ id: StreamID, written time: Int64) {
        let isFast = written.updateValue(time, forKey: id).map { time - $0 < interval / 2 } ?? false
        if isFast { lookedAt.remove(id) } else { lookedAt.insert(id) }
    }
}
