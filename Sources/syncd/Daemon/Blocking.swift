import Dispatch

/// Runs calls that wait for the disk away from the few threads that `async` code shares.
enum Blocking {
    private static let queue = DispatchQueue(label: "syncd.blocking", attributes: .concurrent)

    static func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
