import Foundation

/// A result that one thread sets and another waits for.
///
/// `@unchecked Sendable`: `outcome` is accessed only under the condition's lock.
final class OutcomeBox<Value: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var outcome: Result<Value, any Error>?

    func set(_ result: Result<Value, any Error>) {
        condition.withLock {
            outcome = result
            condition.signal()
        }
    }

    func wait() -> Result<Value, any Error> {
        condition.withLock {
            while true {
                if let outcome { return outcome }
                condition.wait()
            }
        }
    }
}
