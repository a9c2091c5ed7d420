import Synchronization
import TestSupport

/// Runs `body` for each seed, on a thread for each processor: SQLite blocks, and tasks share few threads.
///
/// - Parameters:
///   - body: Gets clocks for seven machines, which the process keeps until it ends.
///   - isFailure: After three failures no further seed is started.
///   - onProgress: Gets the number of seeds that are done, on any of the threads.
func inThreads<T: Sendable>(
    seeds: Range<UInt64>, _ body: @escaping @Sendable (UInt64, [TestClock]) -> T,
    isFailure: @escaping @Sendable (T) -> Bool, onProgress: @escaping @Sendable (Int) -> Void = { _ in }
) async -> [T] {
    let failures = Atomic<Int>(0)
    let done = Atomic<Int>(0)
    return await inThreads(processorCount) { worker in
        let clocks = (0..<7).map { _ in TestClock(milliseconds: 0) }
        var results: [T] = []
        for seed in stride(from: seeds.lowerBound + UInt64(worker), to: seeds.upperBound, by: processorCount)
        where failures.load(ordering: .relaxed) < 3 {
            let result = body(seed, clocks)
            if isFailure(result) { failures.add(1, ordering: .relaxed) }
            results.append(result)
            onProgress(done.add(1, ordering: .relaxed).newValue)
        }
        return results
    }.flatMap { $0 }
}

private func inThreads<T: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> T) async -> [T] {
    await withTaskGroup(of: T.self) { group in
        for index in 0..<count { group.addTask { await onThread { body(index) } } }
        return await group.reduce(into: []) { $0.append($1) }
    }
}
