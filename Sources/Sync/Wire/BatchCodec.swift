import Journal
import SwiftProtobuf

/// Encodes change batches as bytes, and decodes them.
///
/// The format is `ChangeBatch` of docs/tandem.proto: one packed array for each property of all changes. Pure:
/// the same batch gives the same bytes on every machine. Decoding is total: for any bytes it returns a batch
/// that keeps the invariants of ``ChangeBatch`` or throws, within memory that ``Limits`` bounds, and never
/// traps.
package enum BatchCodec {
    /// Encodes `batch`.
    ///
    /// - Parameter batch: A batch that keeps its invariants. A REAL that is not a number is written as NULL,
    ///   as SQLite itself stores it.
    /// - Throws: ``WireError/Code/malformed`` when the batch breaks an invariant.
    package static func encode(_ batch: ChangeBatch) throws(WireError) -> [UInt8] {
        var encoder = BatchEncoder()
        try encoder.append(batch)
        do {
            return try encoder.message.serializedBytes()
        } catch {
            throw .malformed("the batch cannot be written: \(error)")
        }
    }

    /// Decodes a batch from untrusted bytes.
    ///
    /// - Returns: A batch whose text and blob values are slices of one shared buffer.
    /// - Throws: ``WireError``; nothing of the bytes is used then.
    package static func decode(_ bytes: [UInt8], limits: Limits) throws(WireError) -> ChangeBatch {
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

/// The options for decoding messages of peers. Unknown fields are additions that may be ignored, and no
/// message of the protocol nests deeper than 8 levels.
var wireDecodingOptions: BinaryDecodingOptions {
    var options = BinaryDecodingOptions()
    options.discardUnknownFields = true
    options.messageDepthLimit = 8
    return options
}
