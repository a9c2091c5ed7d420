#if THREAD_SANITIZER
    import Journal

    typealias Mutex = SanitizedMutex
#endif
