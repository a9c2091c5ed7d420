import Journal
import SwiftProtobuf

/// Change batches as bytes, and back.
///
/// The format is `ChangeBatch` of docs/tandem.proto: one packed array for each property of all changes. Pure: the same
/// batch gives the same bytes on every machine, and decoding is total. Whatever the bytes, it returns a batch that
/// keeps the invariants of ``ChangeBatch`` or throws, within memory that ``Limits`` bounds, and never traps.
public enum BatchCodec {
    /// - Parameter batch: One that keeps its invariants; a REAL that is not a number is written as NULL, as SQLite
    ///   itself stores it.
    /// - Throws: ``WireError/Kind/malformed`` when the batch breaks an invariant.
    public static func encode(_ batch: ChangeBatch) throws(WireError) -> [UInt8] {
        var encoder = BatchEncoder()
        try encoder.append(batch)
        do {
            return try encoder.message.serializedBytes()
        } catch {
            throw .malformed("the batch cannot be written: \(error)")
        }
    }

    /// - Returns: A batch whose text and blob values are slices of one shared buffer.
    /// - Throws: ``WireError``; nothing of the bytes is used then.
    public static func decode(_ bytes: [UInt8], limits: Limits) throws(WireError) -> ChangeBatch {
        guard bytes.count <= limits.rawBatchBytes else { throw .tooLarge("a batch of \(bytes.count) bytes") }
        try BatchScan(bytes).check(limits)
        let message: Tandem_V1_ChangeBatch
        do {
            message = try Tandem_V1_ChangeBatch(serializedBytes: bytes, options: wireDecodingOptions)
        } catch {
            throw .malformed("not a batch message")
        }
        let batch = try BatchDecoder(message: message, limits: limits).decode()
        if let broken = batch.checkInvariants() { throw .malformed(broken) }
        return batch
    }
}

/// Unknown fields are additions that may be ignored; no message of the protocol nests deeper than this.
var wireDecodingOptions: BinaryDecodingOptions {
    var options = BinaryDecodingOptions()
    options.discardUnknownFields = true
    options.messageDepthLimit = 8
    return options
}
