#if THREAD_SANITIZER
    import Journal

    @usableFromInline typealias Mutex = SanitizedMutex
#endif
