#if THREAD_SANITIZER
    import Synchronization

    /// Replaces `Synchronization.Mutex` in builds for the thread sanitizer (`make sanitize STRESS=1`, `make
    /// sanitize`) only.
    ///
    /// The standard library takes a contended mutex in code that is not instrumented. The sanitizer therefore
    /// does not see that the writes of the last holder happened before, and reports a race at the first
    /// access. The atomic counter gives the sanitizer this order.
    @usableFromInline
    package struct SanitizedMutex<Value: ~Copyable>: ~Copyable, Sendable {
        @usableFromInline let mutex: Synchronization.Mutex<Value>
        @usableFromInline let order = Atomic<UInt>(0)

        @usableFromInline
        package init(_ value: consuming sending Value) { mutex = Synchronization.Mutex(value) }

        @usableFromInline
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock { value throws(Failure) in
                _ = order.load(ordering: .acquiring)
                defer { order.add(1, ordering: .releasing) }
                return try body(&value)
            }
        }
    }

    typealias Mutex = SanitizedMutex
#endif
