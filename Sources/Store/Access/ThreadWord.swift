#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A pointer-sized value that each thread has of its own; nil until the thread sets it.
struct ThreadWord: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "the system has no thread-specific key left")
        self.key = key
    }

    /// The calling thread's value.
    var value: UnsafeRawPointer? {
        get { UnsafeRawPointer(pthread_getspecific(key)) }
        nonmutating set { pthread_setspecific(key, newValue) }
    }
}
