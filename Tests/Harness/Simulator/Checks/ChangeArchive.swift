import GRDB
import Journal
import MergeModel
import Sync

/// Every change that the journals of the machines ever held. A file must still show what compaction removed from
/// its journal, so the model needs it.
struct ChangeArchive {
    private struct Name: Hashable {
        let origin: OriginID
        let version: Int64

        init(_ write: ReferenceWrite) { (origin, version) = (write.origin, write.version) }
    }

    private var writes: [Name: ReferenceWrite] = [:]
    /// Those that the file of each machine held. Two files have different changes under one name when one of them was
    /// restored in place and has not met a peer since.
    private var held: [Int: [Name: ReferenceWrite]] = [:]
    /// What was read of each machine's file.
    private var read: [Int: VersionVector] = [:]
    /// How many entries each file has lost by compaction.
    private var removed: [Int: Int64] = [:]

    /// Reads what is new in the journal of a machine.
    ///
    /// - Returns: How many entries compaction has removed since the last time.
    mutating func collect(_ machine: Int, _ daemon: Daemon) throws -> Int {
        try daemon.replica.read { db in
            // Until the daemon has looked at a migration that has just ended, nobody gets its changes.
            guard try !MigrationMarks.areDue(db) else { return 0 }
            let reader = try JournalReader(db)
            try reader.forEachBatch(after: read[machine] ?? VersionVector(), changes: 8_192, bytes: 1 << 24) { batch in
                // What a crash took may be written again, with another content.
                for write in ReferenceWrite.all(in: batch, registry: reader.registry) {
                    writes[Name(write)] = write
                    held[machine, default: [:]][Name(write)] = write
                }
                return true
            }
            read[machine] = reader.vector()
            let now = try Horizon(db).removed
            let before = removed.updateValue(now, forKey: machine) ?? now
            return Int(max(0, now - before))
        }
    }

    /// All changes; none where nothing is compacted.
    var all: [ReferenceWrite] { Array(writes.values) }

    /// True when an origin wrote the register of that transaction, and none of its tokens: the origin under which a
    /// return wrote the others' version of a contested row again. Who lacks the transaction may show that row alone.
    func isCopied(_ transaction: Int) -> Bool {
        func origins(_ table: String) -> Set<OriginID> {
            let wrote = writes.values.filter {
                $0.row.table == table && $0.columns["txn"] == .integer(Int64(transaction))
            }
            return Set(wrote.map(\.origin))
        }
        return !origins(RegisterTable.name).isSubset(of: origins(TokenTable.name))
    }

    /// Notes that a file lost changes, has other names for them, or took the place of another one.
    mutating func beginAnew(_ machine: Int) {
        read[machine] = nil
        removed[machine] = nil
    }

    /// Notes that a file got the content of another machine's.
    ///
    /// - Parameter host: The other machine; nil when it is not known which.
    mutating func replace(_ machine: Int, by host: Int?) { held[machine] = host.flatMap { held[$0] } }

    /// The changes up to the horizon of a machine's file that its journal does not hold.
    func compacted(of machine: Int, upTo horizon: VersionVector, without present: [ReferenceWrite]) -> [ReferenceWrite]
    {
        guard !horizon.isEmpty else { return [] }
        let present = Set(present.map(Name.init))
        // What the machine held itself comes before what others hold, and before what nobody holds any more.
        let machines = [machine] + held.keys.sorted()
        return writes.filter { $0.key.version <= horizon[$0.key.origin] && !present.contains($0.key) }
            .map { name, write in machines.lazy.compactMap { held[$0]?[name] }.first ?? write }
            .sorted { ($0.origin, $0.version) < ($1.origin, $1.version) }
    }
}
