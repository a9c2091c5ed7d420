import Journal

/// Checks the sizes of an encoded batch before any memory is allocated for its content.
///
/// It counts the elements of each packed array from the bytes alone. A batch that exceeds a limit, or whose
/// columns contradict each other, is refused before an array is built.
struct BatchScan {
    /// The numbers of the fields in docs/tandem.proto.
    private enum Field {
        static let shapes = 1
        static let kinds = 2
        static let origins = 3
        static let runOrigins = 4
        static let runFirstVersions = 5
        static let runLengths = 6
        static let runAdds = 7
        static let runKnownCounts = 8
        static let knownOrigins = 9
        static let knownVersions = 10
        static let changeKinds = 11
        static let stampDeltas = 12
        static let lifeSkips = 13
        static let lives = 14
        static let transactionLengths = 15
        static let valueTypes = 16
        static let integers = 17
        static let reals = 18
        static let lengths = 19
        static let content = 20
        static let migrations = 21
        static let migrationStamps = 22
        static let migrationLevels = 23
        static let last = 23
    }

    /// The number of elements of each field, by field number.
    private var counts = [Int](repeating: 0, count: Field.last + 1)

    /// The number of bytes without those of the content.
    private var columnBytes = 0

    init(_ bytes: [UInt8]) throws(WireError) {
        var at = 0
        while at < bytes.count {
            let start = at
            let tag = try BatchScan.varint(bytes, &at)
            guard tag & 7 == 2 else { throw .malformed("a field that is not length-delimited") }
            guard let length = Int(exactly: try BatchScan.varint(bytes, &at)), length <= bytes.count - at else {
                throw WireError(.truncated, "a field reaches beyond the batch")
            }
            let body = bytes[at..<(at + length)]
            at += length
            let field = tag >> 3
            guard field >= 1, field <= UInt64(Field.last) else {
                columnBytes += at - start
                continue
            }
            try count(Int(field), body)
            columnBytes += Int(field) == Field.content ? 0 : at - start
        }
    }

    private mutating func count(_ field: Int, _ body: ArraySlice<UInt8>) throws(WireError) {
        switch field {
        case Field.shapes, Field.kinds, Field.origins, Field.migrations:
            counts[field] += 1
            return
        default:
            guard counts[field] == 0 else { throw .malformed("a column is written twice") }
        }
        switch field {
        case Field.valueTypes, Field.content:
            counts[field] = body.count
        case Field.reals:
            guard body.count % 8 == 0 else { throw .malformed("a REAL is not 8 bytes") }
            counts[field] = body.count / 8
        default:
            var elements = 0
            body.withUnsafeBufferPointer { for byte in $0 { elements &+= Int(byte < 0x80 ? 1 : 0) } }
            counts[field] = elements
        }
    }

    func check(_ limits: Limits) throws(WireError) {
        guard columnBytes <= limits.columnBytesPerBatch else { throw .tooLarge("\(columnBytes) bytes of columns") }
        guard counts[Field.changeKinds] <= limits.receivedChangesPerBatch else {
            throw .tooLarge("\(counts[Field.changeKinds]) changes in a batch")
        }
        guard counts[Field.valueTypes] <= limits.valuesPerBatch else {
            throw .tooLarge("\(counts[Field.valueTypes]) values in a batch")
        }
        guard counts[Field.shapes] <= limits.shapesPerBatch else {
            throw .tooLarge("\(counts[Field.shapes]) table shapes in a batch")
        }
        guard counts[Field.origins] <= limits.originsPerVector else {
            throw .tooLarge("\(counts[Field.origins]) origins in a batch")
        }
        let changes = counts[Field.changeKinds]
        guard counts[Field.stampDeltas] == changes else { throw .malformed("as many stamps as changes are needed") }
        guard changes > 0 || counts[Field.shapes] == 0 else { throw .malformed("tables without changes") }
        guard counts[Field.kinds] <= changes else { throw .malformed("more kinds than changes") }
        guard counts[Field.lives] <= changes, counts[Field.lifeSkips] == counts[Field.lives] else {
            throw .malformed("lives and their positions disagree")
        }
        guard counts[Field.migrations] <= counts[Field.kinds], counts[Field.migrationStamps] <= changes,
            counts[Field.migrationLevels] == counts[Field.migrationStamps]
        else { throw .malformed("migrations and their changes disagree") }
        guard counts[Field.transactionLengths] <= changes else { throw .malformed("more transactions than changes") }
        let runs = counts[Field.runOrigins]
        guard
            runs <= changes, counts[Field.runFirstVersions] == runs, counts[Field.runLengths] == runs,
            counts[Field.runAdds] == runs, counts[Field.runKnownCounts] == runs
        else { throw .malformed("the columns of the runs disagree") }
        guard counts[Field.knownOrigins] == counts[Field.knownVersions] else {
            throw .malformed("known origins and versions disagree")
        }
        guard counts[Field.knownOrigins] <= limits.knownEntriesPerBatch else {
            throw .tooLarge("\(counts[Field.knownOrigins]) known versions in a batch")
        }
        guard
            counts[Field.integers] <= counts[Field.valueTypes], counts[Field.reals] <= counts[Field.valueTypes],
            counts[Field.lengths] <= counts[Field.valueTypes]
        else { throw .malformed("more values than value types") }
    }

    private static func varint(_ bytes: [UInt8], _ at: inout Int) throws(WireError) -> UInt64 {
        do {
            return try LEB128.read(bytes, at: &at)
        } catch {
            switch error {
            case .tooLarge: throw .malformed("a number beyond 64 bits")
            case .cutOff: throw WireError(.truncated, "a number is cut off")
            }
        }
    }
}
