#if THREAD_SANITIZER
    import Journal

    // The mutex that the thread sanitizer understands. What this module declares goes before what a file imports: the one of
    // Synchronization, and those of the modules that it sees from the inside with `@testable`.
    typealias Mutex = SanitizedMutex
#endif
