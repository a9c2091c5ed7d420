import BenchSupport
import Foundation
import GRDBSQLite

/// SQLite through its C API only: the reference of every figure, and the writer on both sides.
///
/// Both sides have the same settings, so that capture is the only difference.
final class PlainDatabase {
    private let connection: OpaquePointer

    init(path: String, synchronous: String = "NORMAL") throws {
        var connection: OpaquePointer?
        guard sqlite3_open(path, &connection) == SQLITE_OK, let connection else {
            throw BenchError("cannot open \(path)")
        }
        self.connection = connection
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous)")
    }

    deinit { sqlite3_close_v2(connection) }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchError(String(cString: sqlite3_errmsg(connection)))
        }
    }

    func prepare(_ sql: String) throws -> PlainStatement { try PlainStatement(connection, sql) }
}

final class PlainStatement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer

    init(_ connection: OpaquePointer, _ sql: String) throws {
        var handle: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &handle, nil) == SQLITE_OK, let handle else {
            throw BenchError(String(cString: sqlite3_errmsg(connection)))
        }
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ text: [UInt8], at index: Int32) {
        text.withUnsafeBytes { bytes in
            _ = sqlite3_bind_text(
                handle, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
                unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
    }

    func bind(_ number: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, number) }
    func bind(_ number: Double, at index: Int32) { sqlite3_bind_double(handle, index, number) }

    func run() throws {
        guard sqlite3_step(handle) == SQLITE_DONE else { throw BenchError(String(cString: sqlite3_errmsg(connection))) }
        sqlite3_reset(handle)
    }

    /// Steps through all rows and packs every value into `bytes`, as a sender without a format of its own
    /// would.
    func pack(into bytes: inout [UInt8]) {
        let columns = sqlite3_column_count(handle)
        while sqlite3_step(handle) == SQLITE_ROW {
            for column in 0..<columns {
                switch sqlite3_column_type(handle, column) {
                case SQLITE_INTEGER:
                    withUnsafeBytes(of: sqlite3_column_int64(handle, column)) { bytes.append(contentsOf: $0) }
                case SQLITE_FLOAT:
                    withUnsafeBytes(of: sqlite3_column_double(handle, column)) { bytes.append(contentsOf: $0) }
                case SQLITE_NULL: bytes.append(0)
                default:
                    let count = Int(sqlite3_column_bytes(handle, column))
                    bytes.append(UInt8(truncatingIfNeeded: count))
                    if let start = sqlite3_column_blob(handle, column) {
                        bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
                    }
                }
            }
        }
        sqlite3_reset(handle)
    }
}
