#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Identifies a thread while it runs. The system may give the same identity to a later thread.
@usableFromInline
struct ThreadIdentity: Hashable, Sendable {
    private let number: UInt

    static var current: ThreadIdentity {
        #if canImport(Darwin)
            ThreadIdentity(number: UInt(bitPattern: pthread_self()))
        #else
            ThreadIdentity(number: UInt(pthread_self()))
        #endif
    }
}

/// The calling thread's accesses to databases that are under way, innermost first.
///
/// It belongs to a thread, not to a task: bodies of transactions are synchronous, and a task that is started
/// inside one is no part of the transaction.
enum ThreadContext {
    private static let word = ThreadWord()

    private static var innermost: AccessContext? {
        word.value.map { Unmanaged<AccessContext>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The calling thread's access to `database`; nil when there is none.
    static func access(to database: Database) -> AccessContext? {
        var context = innermost
        while let candidate = context {
            if candidate.database === database { return candidate }
            context = candidate.outer
        }
        return nil
    }

    /// Runs `body` inside `context`.
    static func with<Result>(_ context: AccessContext, _ body: () throws -> Result) rethrows -> Result {
        let outer = innermost
        context.outer = outer
        word.value = UnsafeRawPointer(Unmanaged.passUnretained(context).toOpaque())
        defer { word.value = outer.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) } }
        return try withExtendedLifetime((context, outer)) { try body() }
    }
}
