import Foundation

/// The processors of this machine, eight at most.
public var processorCount: Int { max(1, min(8, ProcessInfo.processInfo.activeProcessorCount)) }

/// What `body` returns, on a thread of its own: for work that blocks, while tasks share few threads.
public func onThread<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
