import Journal

/// SQLite values as they travel: one array for each storage class.
struct ValueColumns {
    /// The byte of each storage class on the wire.
    private enum Class {
        static let null: UInt8 = 0
        static let integer: UInt8 = 1
        static let real: UInt8 = 2
        static let text: UInt8 = 3
        static let blob: UInt8 = 4
    }

    var types: [UInt8] = []
    var integers: [Int64] = []
    var reals: [Double] = []
    var lengths: [UInt32] = []
    var content: [UInt8] = []

    init() {}

    /// - Throws: ``WireError/Code/tooLarge`` for a text or blob of 4 GiB or more, which SQLite cannot hold.
    mutating func append(contentsOf values: some Sequence<Value>) throws(WireError) {
        for value in values {
            switch value {
            case .null:
                types.append(Class.null)
            case .integer(let number):
                types.append(Class.integer)
                integers.append(number)
            case .real(let number):
                // SQLite stores NULL for a NaN, and a receiver refuses one.
                guard !number.isNaN else {
                    types.append(Class.null)
                    continue
                }
                types.append(Class.real)
                reals.append(number)
            case .text(let bytes):
                try append(bytes, as: Class.text)
            case .blob(let bytes):
                try append(bytes, as: Class.blob)
            }
        }
    }

    private mutating func append(_ bytes: Bytes, as type: UInt8) throws(WireError) {
        guard let length = UInt32(exactly: bytes.count) else { throw .tooLarge("a value of \(bytes.count) bytes") }
        types.append(type)
        lengths.append(length)
        content.append(contentsOf: bytes)
    }

    /// The values in their order; text and blobs are slices of ``content``.
    ///
    /// - Throws: ``WireError/Code/malformed`` when the arrays contradict each other, and for a NaN.
    func values() throws(WireError) -> [Value] {
        try checkCounts()
        var values: [Value] = []
        values.reserveCapacity(types.count)
        var integer = 0
        var real = 0
        var length = 0
        var at = 0
        for type in types {
            switch type {
            case Class.integer:
                values.append(.integer(integers[integer]))
                integer += 1
            case Class.real:
                values.append(.real(reals[real]))
                real += 1
            case Class.text, Class.blob:
                let end = at + Int(lengths[length])
                values.append(type == Class.text ? .text(content[at..<end]) : .blob(content[at..<end]))
                at = end
                length += 1
            default:
                values.append(.null)
            }
        }
        return values
    }

    /// Checks the counts, so that every subscript in ``values()`` is valid.
    private func checkCounts() throws(WireError) {
        var counts = (integers: 0, reals: 0, lengths: 0)
        for type in types {
            switch type {
            case Class.null: break
            case Class.integer: counts.integers += 1
            case Class.real: counts.reals += 1
            case Class.text, Class.blob: counts.lengths += 1
            default: throw .malformed("an unknown storage class")
            }
        }
        guard counts.integers == integers.count, counts.reals == reals.count, counts.lengths == lengths.count else {
            throw .malformed("values and value types disagree")
        }
        guard !reals.contains(where: \.isNaN) else { throw .malformed("a REAL that is not a number") }
        // There are at most valuesPerBatch lengths, each below 2^32, so the sum fits.
        let total = lengths.reduce(into: 0) { $0 += Int($1) }
        guard total == content.count else { throw .malformed("lengths and content disagree") }
    }
}
