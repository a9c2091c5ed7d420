import Journal
import Sync

enum BatchTarget {
    /// Limits smaller than in production, so that small inputs reach them.
    static let limits = {
        var limits = Limits.standard
        limits.rawBatchBytes = 1 << 20
        limits.columnBytesPerBatch = 1 << 18
        limits.knownEntriesPerBatch = 1 << 12
        limits.frameHeaderBytes = 1 << 14
        limits.framePayloadBytes = 1 << 20
        return limits
    }()

    static func run(_ bytes: [UInt8]) {
        guard let batch = try? BatchCodec.decode(bytes, limits: limits) else { return }
        check(batch)
    }

    /// Checks that an accepted batch keeps its invariants, and comes back equal from the wire.
    static func check(_ batch: ChangeBatch) {
        if let broken = batch.checkInvariants() { preconditionFailure("an accepted batch: \(broken)") }
        guard let again = try? BatchCodec.encode(batch) else {
            preconditionFailure("an accepted batch cannot be written")
        }
        let twice = try? BatchCodec.decode(again, limits: .standard)
        precondition(twice == batch, "a batch that was written again is another one")
    }
}
