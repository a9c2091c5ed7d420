import Foundation

/// The processors of this machine, eight at most.
package var processorCount: Int { max(1, min(8, ProcessInfo.processInfo.activeProcessorCount)) }

/// Runs `body` on a thread of its own, for work that blocks: tasks share few threads.
package func onThread<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
