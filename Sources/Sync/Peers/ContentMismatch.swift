import Foundation
import Journal

/// A table whose rows differ from a peer's although both replicas know the same changes: the data is damaged,
/// or replication has a fault.
public struct ContentMismatch: Sendable, Hashable {
    /// A range of consecutive rows that contains a difference, given by the keys around it.
    public struct KeyRange: Sendable, Hashable {
        /// The key before the first row; nil when the range starts at the first row of the table.
        package let after: RowImage?
        /// The key of the last row; nil when the range ends at the last row of the table.
        package let through: RowImage?

        /// The range in words: `after id 10 up to id 20`.
        public var summary: String {
            let parts = [after.map { "after \($0.shownKey)" }, through.map { "up to \($0.shownKey)" }].compactMap { $0 }
            return parts.isEmpty ? "all rows" : parts.joined(separator: " ")
        }
    }

    /// The table's name, as all machines know it.
    public let table: String

    /// The first differing ranges, at most ``Limits/listedMismatches``.
    public var ranges: [KeyRange] = []

    /// The number of ranges that differ.
    public var count = 0

    /// The mismatch in words: `person: after id 10 up to id 20, and 3 more ranges`.
    public var summary: String {
        let more = count > ranges.count ? ", and \(count - ranges.count) more ranges" : ""
        return "\(table): " + ranges.map(\.summary).joined(separator: "; ") + more
    }

    init(table: String) { self.table = table }

    mutating func add(_ range: KeyRange, limits: Limits) {
        count += 1
        if ranges.count < limits.listedMismatches { ranges.append(range) }
    }

    // MARK: - In `_journal_peers.mismatch`

    private struct Stored: Codable {
        let table: String
        let count: Int
        /// The keys around each range, as ``RowImage/encoded()``; empty for none.
        let ranges: [[Data]]
    }

    static func encode(_ mismatches: [ContentMismatch]) throws -> String {
        let stored = mismatches.map { mismatch in
            Stored(
                table: mismatch.table, count: mismatch.count,
                ranges: mismatch.ranges.map { [$0.after, $0.through].map { Data($0?.encoded() ?? []) } })
        }
        return String(decoding: try JSONEncoder().encode(stored), as: UTF8.self)
    }

    /// Leaves out what cannot be read: the next comparison writes it again.
    static func decode(_ text: String) -> [ContentMismatch] {
        let stored = (try? JSONDecoder().decode([Stored].self, from: Data(text.utf8))) ?? []
        return stored.map { entry in
            var mismatch = ContentMismatch(table: entry.table)
            mismatch.count = entry.count
            mismatch.ranges = entry.ranges.compactMap { keys in
                guard keys.count == 2 else { return nil }
                let images = keys.map { $0.isEmpty ? nil : RowImage(encoded: [UInt8]($0)[...]) }
                return KeyRange(after: images[0], through: images[1])
            }
            return mismatch
        }
    }
}

extension RowImage {
    /// The key in words, short and on one line.
    fileprivate var shownKey: String {
        columns.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.short)" }.joined(separator: ", ")
    }
}

extension Value {
    fileprivate var short: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let bytes):
            "'" + String(decoding: bytes.prefix(40), as: UTF8.self).filter { !$0.isNewline }
                + (bytes.count > 40 ? "…'" : "'")
        case .blob(let bytes): "a blob of \(bytes.count) bytes"
        }
    }
}
