/// The bytes of an object in an answer of an S3 server, and where they are in the object.
struct S3Object: Sendable {
    let bytes: [UInt8]
    /// The place of the first byte.
    private let start: Int

    /// - Parameter asked: The range that was asked for; nil for the whole object.
    /// - Throws: ``SyncError``: `truncated` when bytes are missing, `notAPeer` for an answer without an object, or
    ///   with another part of it.
    init(_ answer: S3Answer, asked: Range<Int>?, store: String) throws(SyncError) {
        let head = answer.head
        // Only with a length is it certain that nothing was cut off.
        let isDelimited = head["content-length"] != nil || head["transfer-encoding"]?.lowercased() == "chunked"
        guard head["etag"] != nil, isDelimited else {
            throw SyncError(
                .notAPeer, "\(store) does not answer like an S3 server",
                hint: "Is something else listening there, a proxy or a login page?")
        }
        bytes = answer.body
        guard let field = head["content-range"], let asked else {
            // Without that header, it is the whole object, also for a server that knows no ranges.
            guard answer.status == 200 else { throw S3Object.otherPart(store) }
            start = 0
            return
        }
        guard let (part, size) = S3Object.part(field), part.lowerBound == asked.lowerBound,
            part.upperBound == min(asked.upperBound, size)
        else { throw S3Object.otherPart(store) }
        guard part.count == bytes.count else {
            throw SyncError(.truncated, "\(store) gave a part of what it announced")
        }
        start = part.lowerBound
    }

    /// The bytes of a range of the object, as far as it reaches.
    func bytes(in range: Range<Int>) -> [UInt8] {
        let end = start + bytes.count
        let part = range.clamped(to: start..<end)
        return Array(bytes[(part.lowerBound - start)..<(part.upperBound - start)])
    }

    private static func otherPart(_ store: String) -> SyncError {
        SyncError(.notAPeer, "\(store) gave another part of an object than was asked for")
    }

    /// - Parameter field: Such as `bytes 0-99/1234` (RFC 9110, section 14.4).
    private static func part(_ field: String) -> (Range<Int>, size: Int)? {
        guard field.hasPrefix("bytes ") else { return nil }
        let numbers = field.dropFirst("bytes ".count).split { $0 == "-" || $0 == "/" }.map { Int($0) }
        guard numbers.count == 3, let first = numbers[0], let last = numbers[1], let size = numbers[2],
            first >= 0, first <= last, last < size
        else { return nil }
        return (first..<(last + 1), size)
    }
}
