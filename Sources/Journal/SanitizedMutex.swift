#if THREAD_SANITIZER
    import Synchronization

    /// In the place of `Synchronization.Mutex`, in builds for the thread sanitizer (`make stress-tsan`, `make sanitize`) only.
    ///
    /// A mutex that is contended is taken inside of the standard library, which is not instrumented: the sanitizer does not see
    /// that the last holder's writes came before, and reports a race at the first access. The counter tells it.
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
