/// Shortens the write-ahead log once nobody has written the file for ``Limits/quietMilliseconds``.
///
/// A log that a program has filled keeps its length on the disk until it is truncated. Truncating may make a
/// transaction fail that was reading at that moment and is about to write, so it waits for a pause. When a
/// reader is in the way, the next attempts come after longer and longer pauses.
struct LogTrimmer: Sendable {
    /// Shortens a long log; returns false when something was in the way.
    let trim: @Sendable () async -> Bool
    let clock: any SyncClock
    let limits: Limits

    /// Trims after each burst of signals, until the signals end or the task is cancelled.
    func run(_ changes: AsyncStream<Void>) async {
        let signals = SignalCount()
        let (bursts, began) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in changes {
                    signals.add()
                    began.yield()
                }
                began.finish()
            }
            var trimmed = 0
            for await _ in bursts where signals.value > trimmed {
                var delay = limits.quietMilliseconds
                while true {
                    let before = signals.value
                    // Cancelled: there is nothing left to do.
                    guard (try? await clock.sleep(milliseconds: delay)) != nil else { return group.cancelAll() }
                    guard signals.value == before else {
                        delay = limits.quietMilliseconds
                        continue
                    }
                    trimmed = before
                    if await trim() { break }
                    delay = min(delay * 2, max(limits.quietMilliseconds, 60_000))
                }
            }
            group.cancelAll()
        }
    }
}
