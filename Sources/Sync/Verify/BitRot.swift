import Journal

/// Whether one flipped bit of a medium makes one value of a row of another one.
///
/// SQLite has no checksum of its content, so it reads such a value as if a program had written it. The rules are those
/// of its record format (https://sqlite.org/fileformat2.html#record_format): the bit is one of the content, or of the
/// serial type, which is the class and the length, or of the size of the record's header. NULL may always be bit rot.
enum BitRot {
    /// True when one flipped bit may have made the row that is read of the stored one.
    ///
    /// - Parameters:
    ///   - missing: What SQLite reads of each column that a record lacks: its default.
    ///   - rowID: The column that is the rowid, which a record has as NULL; nil when there is none.
    static func isOneFlip(of stored: [Value], to read: [Value], missing: [Value], rowID: Int? = nil) -> Bool {
        let differences = stored.indices.filter { stored[$0] != read[$0] }
        guard let first = differences.first else { return false }
        // Of the size of the header: it cuts off all columns.
        if differences.allSatisfy({ read[$0] == missing[$0] }) { return true }
        if differences.count == 1, isOneFlip(from: stored[first], to: read[first]) { return true }
        // Of the type of NULL, which is one byte with no bit set: it becomes a part of the next column's type.
        var record = stored
        if let rowID { record[rowID] = .null }
        return (0...first).contains { place in
            record[place] == .null
                && (place..<record.count).allSatisfy { column in
                    let moved = column + 1 < record.count ? record[column + 1] : missing[column]
                    return column == rowID || read[column] == moved
                }
        }
    }

    static func isOneFlip(from stored: Value, to read: Value) -> Bool {
        read == .null
            || Stored.forms(of: stored).contains { form in
                form.neighbours.contains { $0 == read || $0 == Stored.asReal(read) } || form.hasOneFlip(to: read)
            }
    }

    /// A value as a record has it.
    private struct Stored {
        let serialType: UInt64
        let content: Bytes

        /// The forms in which a column may store the value: a column of real numbers has small whole ones as integers.
        static func forms(of value: Value) -> [Stored] {
            switch value {
            case .null: [Stored(serialType: 0, content: [])]
            case .integer(let number): [Stored(number)]
            case .real(let number):
                [Stored(serialType: 7, content: bytes(number.bitPattern, 8))]
                    + (Int64(exactly: number).map { [Stored($0)] } ?? [])
            case .text(let bytes): [Stored(serialType: 13 + 2 * UInt64(bytes.count), content: bytes)]
            case .blob(let bytes): [Stored(serialType: 12 + 2 * UInt64(bytes.count), content: bytes)]
            }
        }

        private init(serialType: UInt64, content: Bytes) {
            self.serialType = serialType
            self.content = content
        }

        private init(_ number: Int64) {
            if number == 0 || number == 1 {
                self.init(serialType: 8 + UInt64(number), content: [])
                return
            }
            let width = Stored.widths.first { width in
                width == 8 || (number >> (8 * width - 1)) == (number < 0 ? -1 : 0)
            }
            let bytes = width ?? 8
            self.init(
                serialType: UInt64((Stored.widths.firstIndex(of: bytes) ?? 5) + 1),
                content: Stored.bytes(UInt64(bitPattern: number), bytes))
        }

        /// The bytes of an integer of the serial types 1 to 6.
        private static let widths = [1, 2, 3, 4, 6, 8]

        private static func bytes(_ bits: UInt64, _ count: Int) -> Bytes {
            Bytes((0..<count).reversed().map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) })
        }

        /// The values that the content is read as when a bit of the serial type is flipped. One that needs more content
        /// is not among them: SQLite calls the record damaged, or reads other columns wrongly too.
        var neighbours: [Value] {
            // A varint: seven bits of each byte, and one that says that another byte follows.
            var bytes = [UInt8(serialType & 0x7F)]
            var rest = serialType >> 7
            while rest > 0 {
                bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            return (0..<bytes.count * 8).compactMap { bit in
                var flipped = bytes
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                var type: UInt64 = 0
                for byte in flipped {
                    type = type << 7 | UInt64(byte & 0x7F)
                    if byte < 0x80 { return Stored.value(type, content) }
                }
                return nil
            }
        }

        /// True when a bit of the content makes `read` of it.
        func hasOneFlip(to read: Value) -> Bool {
            Stored.forms(of: read).contains { other in
                // Texts and blobs may be long, and differ in one byte at most.
                if serialType >= 12 {
                    return serialType == other.serialType && Stored.areOneBitApart(content, other.content)
                }
                return (0..<content.count * 8).contains { bit in
                    var flipped = content
                    flipped[flipped.startIndex + bit / 8] ^= 1 << UInt8(bit % 8)
                    guard let value = Stored.value(serialType, flipped) else { return false }
                    return value == read || value == Stored.asReal(read) || Stored.asReal(value) == read
                }
            }
        }

        private static func areOneBitApart(_ a: Bytes, _ b: Bytes) -> Bool {
            var bits = 0
            for (x, y) in zip(a, b) where x != y {
                bits += (x ^ y).nonzeroBitCount
                if bits > 1 { return false }
            }
            return bits == 1
        }

        /// A whole number as the real that a column of real numbers shows.
        static func asReal(_ value: Value) -> Value {
            guard case .integer(let number) = value else { return value }
            return .real(Double(number))
        }

        /// The value of a serial type and the content that begins with its own; nil when the content is too short.
        private static func value(_ serialType: UInt64, _ content: Bytes) -> Value? {
            func bits(_ count: Int) -> UInt64? {
                content.count < count ? nil : content.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
            }
            switch serialType {
            case 0: return .null
            case 1...6:
                let width = widths[Int(serialType) - 1]
                let shift = UInt64(64 - 8 * width)
                return bits(width).map { .integer(Int64(bitPattern: $0 << shift) >> Int64(shift)) }
            case 7: return bits(8).map { .real(Double(bitPattern: $0)) }
            case 8, 9: return .integer(Int64(serialType) - 8)
            case 12...:
                let count = (serialType - 12) / 2
                guard count <= UInt64(content.count) else { return nil }
                let bytes = content.prefix(Int(count))
                return serialType.isMultiple(of: 2) ? .blob(bytes) : .text(bytes)
            default: return nil
            }
        }
    }
}
