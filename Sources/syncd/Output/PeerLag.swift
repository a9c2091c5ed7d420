import Journal
import Sync

/// How far a peer is behind what is known here.
struct PeerLag {
    /// Changes known here that it has not confirmed.
    let changes: Int64
    /// For how long it has lacked one of them, in milliseconds: since the oldest one that the journal still has was
    /// written, by the clock of its machine. 0 when it lacks none, or when that clock is ahead.
    let milliseconds: Int64

    var text: String { PeerLag.text(changes: changes, milliseconds: milliseconds) }

    /// `12 changes behind, for 3 min`
    ///
    /// - Parameter milliseconds: nil for a daemon of a release that does not say. Less than 10 s is no news.
    static func text(changes: Int64, milliseconds: Int64?) -> String {
        let since = milliseconds.flatMap { $0 < 10_000 ? nil : ", for \(ConsoleText.duration($0))" }
        return ConsoleText.count(changes, "change") + " behind" + (since ?? "")
    }
}

extension PeerLag {
    /// - Parameter now: The time here, in milliseconds since 1970.
    /// - Returns: nil when the peer has confirmed nothing yet.
    /// - Throws: Errors of SQLite.
    init?(of confirmed: VersionVector, in reader: JournalReader, now: Int64) throws {
        guard !confirmed.isEmpty else { return nil }
        var changes: Int64 = 0
        var since: Int64?
        let given = reader.given
        for entry in reader.vector().entries where entry.version > confirmed[entry.origin] {
            guard given?.contains(entry.origin) ?? true else { continue }
            changes = changes.addingReportingOverflow(entry.version - confirmed[entry.origin]).partialValue
            let time = try reader.milliseconds(of: entry.origin, after: confirmed[entry.origin])
            since = [since, time].compactMap(\.self).min()
        }
        self.changes = changes
        milliseconds = since.map { max(now - $0, 0) } ?? 0
    }
}
