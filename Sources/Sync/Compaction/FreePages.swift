import GRDB

/// The pages of a file that hold nothing.
struct FreePages {
    /// Some milliseconds of work.
    static let perStep = 256

    let count: Int64
    /// Bytes of a page.
    let size: Int64
    let givesBack: Bool

    init(_ db: Database) throws {
        count = try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        size = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        givesBack = try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2
    }

    var bytes: Int64 { count * size }
}
