import FoundationEssentials

/// The answer of an S3 server to `ListObjectsV2`.
struct S3Listing: Sendable {
    /// One line of the answer, with the whole key in the bucket.
    struct Entry: Sendable {
        var key: String?
        var size: Int?
        var tag: String?
        var milliseconds: Int64?
    }

    /// The objects with their keys in the bucket, in the order of the answer.
    private(set) var objects: [StoredObject] = []
    private(set) var isCut = false

    /// Why an answer is refused.
    struct Failure: Error {
        let reason: String
    }

    /// - Parameter most: The most objects that were asked for.
    init(_ bytes: [UInt8], most: Int) throws(Failure) {
        var reader = XMLReader(bytes)
        var entry = Entry()
        var isListing = false
        while let element = try S3Listing.next(&reader) {
            switch element.path {
            case ["ListBucketResult", "Contents", "Key"]: entry.key = element.text
            case ["ListBucketResult", "Contents", "Size"]: entry.size = Int(element.text)
            case ["ListBucketResult", "Contents", "ETag"]: entry.tag = element.text.filter { $0 != "\"" }
            case ["ListBucketResult", "Contents", "LastModified"]:
                entry.milliseconds = S3Listing.milliseconds(element.text)
            case ["ListBucketResult", "Contents"]:
                guard let key = entry.key, let size = entry.size, size >= 0, let tag = entry.tag,
                    let milliseconds = entry.milliseconds
                else { throw Failure(reason: "an object without key, size, tag or time") }
                guard objects.count < most else { throw Failure(reason: "more objects than were asked for") }
                objects.append(StoredObject(key: key, size: size, tag: tag, milliseconds: milliseconds))
                entry = Entry()
            case ["ListBucketResult", "IsTruncated"]:
                guard element.text == "true" || element.text == "false" else {
                    throw Failure(reason: "IsTruncated that is neither true nor false")
                }
                isCut = element.text == "true"
            case ["ListBucketResult"]: isListing = true
            default: break
            }
        }
        guard isListing else { throw Failure(reason: "no listing") }
    }

    /// Checks that the objects are those that were asked for.
    ///
    /// - Parameters:
    ///   - prefix: What all keys begin with.
    ///   - after: What all keys come behind, as bytes; nil for any.
    func check(prefix: String, after: String?) throws(Failure) {
        var last = after
        for object in objects {
            guard object.key.utf8.starts(with: prefix.utf8) else {
                throw Failure(reason: "a key that was not asked for")
            }
            if let last, !last.utf8.lexicographicallyPrecedes(object.key.utf8) {
                throw Failure(reason: "keys that are not in the order of their bytes")
            }
            last = object.key
        }
    }

    private static func next(_ reader: inout XMLReader) throws(Failure) -> XMLReader.Element? {
        do {
            return try reader.next()
        } catch {
            throw Failure(reason: error.reason)
        }
    }

    /// - Parameter text: Such as `2026-11-25T07:57:17.123Z`.
    private static func milliseconds(_ text: String) -> Int64? {
        let time =
            (try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: .iso8601))
        return time.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1_000).rounded()) }
    }
}
