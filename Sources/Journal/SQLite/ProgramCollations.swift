import GRDB
import GRDBSQLite
import Synchronization

/// Gives connections the collations that a ``CollationMap`` knows, and Tandem's own ``KeyCollation/unicode``.
///
/// SQLite asks for a collation when a statement needs one that the connection lacks
/// (https://sqlite.org/c3ref/collation_needed.html). So a collation that the program itself adds to its
/// connections stays as it is, and what is mapped while connections are open reaches them.
package final class ProgramCollations: Sendable {
    /// What connections compare by under one name. It stays when the name is mapped to another collation.
    private final class Named: Sendable {
        private let value: Atomic<UInt8>

        init(_ target: KeyCollation) { value = Atomic(target.number) }

        var target: KeyCollation {
            get { KeyCollation(number: value.load(ordering: .relaxed)) }
            set { value.store(newValue.number, ordering: .relaxed) }
        }
    }

    private struct State {
        var map: CollationMap
        /// By folded name.
        var named: [String: Named] = [:]
    }

    private let state: Mutex<State>
    /// What is mapped besides what the file says, while `syncd init` and `check` find out what it would do.
    private let changes: [(name: String, target: KeyCollation?)]

    package init(_ changes: [(name: String, target: KeyCollation?)] = []) {
        self.changes = changes
        state = Mutex(State(map: CollationMap().changed(by: changes)))
    }

    /// Uses what is mapped, and nothing else.
    package init(_ map: CollationMap) {
        changes = []
        state = Mutex(State(map: map))
    }

    /// Reads the map of a file. A connection that has a collation keeps it when the map has it no longer.
    ///
    /// - Throws: As ``CollationMap/init(_:)``.
    package func reload(_ db: Database) throws {
        let new = try CollationMap(db).changed(by: changes)
        state.withLock { state in
            guard state.map != new else { return }
            state.map = new
            for entry in new.all { state.named[SQLText.foldedName(entry.name)]?.target = entry.target }
        }
    }

    /// Answers when `db` needs a collation. This object must live as long as the connection: a
    /// `Configuration.prepareDatabase` that captures it sees to that.
    package func install(on db: Database) {
        sqlite3_collation_needed(
            db.sqliteConnection, Unmanaged.passUnretained(self).toOpaque(),
            { context, connection, _, name in
                guard let context, let name else { return }
                let collations = Unmanaged<ProgramCollations>.fromOpaque(context).takeUnretainedValue()
                guard let named = collations.named(String(cString: name)) else { return }
                // Without memory for it, the statement that needs it fails.
                _ = sqlite3_create_collation_v2(
                    connection, name, SQLITE_UTF8, Unmanaged.passUnretained(named).toOpaque(),
                    { context, countA, a, countB, b in
                        guard let context else { return 0 }
                        return Unmanaged<Named>.fromOpaque(context).takeUnretainedValue().target.compare(
                            UnsafeRawBufferPointer(start: a, count: Int(countA)),
                            UnsafeRawBufferPointer(start: b, count: Int(countB)))
                    }, nil)
            })
    }

    private func named(_ name: String) -> Named? {
        let own = name.uppercased() == KeyCollation.unicode.rawValue ? KeyCollation.unicode : nil
        return state.withLock { state in
            guard let target = own ?? state.map.target(of: name) else { return nil }
            let folded = SQLText.foldedName(name)
            let named = state.named[folded] ?? Named(target)
            state.named[folded] = named
            return named
        }
    }
}

extension KeyCollation {
    fileprivate var number: UInt8 { UInt8(truncatingIfNeeded: KeyCollation.allCases.firstIndex(of: self) ?? 0) }
    fileprivate init(number: UInt8) { self = KeyCollation.allCases[Int(number)] }

    /// Compares two texts in UTF-8.
    ///
    /// - Returns: Less than 0, 0 or more than 0, as SQLite wants it.
    func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int32 {
        func order(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Int32 {
            a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
        }
        switch self {
        case .binary: return order(a, b)
        case .nocase:
            // SQLite ends the comparison at a NUL that both have, and then compares the lengths.
            func folded(_ text: Slice<UnsafeRawBufferPointer>) -> some Collection<UInt8> {
                text.prefix { $0 != 0 }.lazy.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
            }
            let shorter = min(a.count, b.count)
            let found = order(folded(a.prefix(shorter)), folded(b.prefix(shorter)))
            return found != 0 ? found : a.count < b.count ? -1 : a.count == b.count ? 0 : 1
        case .rtrim:
            func trimmed(_ text: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
                text[..<((text.lastIndex { $0 != 0x20 }).map { $0 + 1 } ?? text.startIndex)]
            }
            return order(trimmed(a), trimmed(b))
        case .unicode: return order(CaseFolding.folded(a), CaseFolding.folded(b))
        }
    }
}
