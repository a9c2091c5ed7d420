#if THREAD_SANITIZER
    import Journal

    // The mutex that the thread sanitizer understands. A declaration of this module shadows imported ones:
    // that of Synchronization, and those of modules that are imported with `@testable`.
    typealias Mutex = SanitizedMutex
#endif
