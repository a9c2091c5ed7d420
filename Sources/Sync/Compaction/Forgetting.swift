import Foundation
import GRDB
import Journal

/// An operator's decision that a replica will not come back, so that it no longer holds compaction back.
package enum Forgetting {
    /// Marks a replica as forgotten. It counts again once it is heard of later.
    ///
    /// - Parameters:
    ///   - origin: The replica.
    ///   - horizon: What is known of the replicas.
    ///   - now: The time in milliseconds since 1970.
    ///   - isForced: True also forgets a replica that was seen within the last day.
    /// - Throws: ``JournalError``: `unknownOrigin` for a replica that this file does not know, `refused` for this
    ///   replica itself and for one that was seen within the last day. The transaction must then be rolled
    ///   back.
    package static func forget(
        _ origin: OriginID, _ horizon: StableHorizon, now: Int64, isForced: Bool, _ db: Database
    ) throws {
        guard let member = horizon.members.first(where: { $0.origin == origin }) else {
            if try Identity(db).origin == origin {
                throw JournalError(.refused, "\(origin.short) is this replica itself")
            }
            throw JournalError(
                .unknownOrigin, "No replica \(origin.short) holds compaction back here",
                hint: "`syncd status` lists the replicas that this file knows.")
        }
        guard isForced || now - member.lastSeen > alive else {
            let seconds = max(0, now - member.lastSeen) / 1_000
            throw JournalError(
                .refused,
                "\(origin.short) was seen \(seconds) s ago by "
                    + (member.witness.map { "\($0.short)" } ?? "a replica that has its changes"),
                hint:
                    "A replica that is forgotten and comes back may have to be cloned again; --force forgets it all the "
                    + "same.")
        }
        var origins = try OriginTable(db)
        _ = try origins.number(of: origin, in: db)
        try db.execute(
            sql: "UPDATE _journal_origins SET forgotten = ? WHERE origin = ?",
            arguments: [Double(max(now, member.lastSeen)) / 1_000, Data(origin.bytes)])
    }

    /// A replica that was seen within this time is alive, in milliseconds.
    private static let alive: Int64 = 86_400_000
}
