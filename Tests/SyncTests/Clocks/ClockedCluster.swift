import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// Replicas on machines whose clocks can be set: both that of their SQLite, which stamps what they write, and that of their
/// daemon, which judges the stamps of others.
final class ClockedCluster {
    /// Where all clocks start: the real time, by which ``Replica/write(_:)`` stamps. Each cluster takes it anew, because a run of
    /// all tests lasts longer than clocks may differ.
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    static let year: Int64 = 365 * 86_400_000

    let directory = TemporaryDirectory()
    let replicas: [Replica]
    private(set) var inboxes: [Inbox]
    let limits: Limits
    private let clocks: [MachineClock]

    init(_ count: Int, schema: String, limits: Limits = .standard) throws {
        self.limits = limits
        let clocks = (0..<count).map { [now] _ in MachineClock(milliseconds: now) }
        self.clocks = clocks
        var replicas: [Replica] = []
        for index in 0..<count {
            let path = directory.file("\(index).sqlite")
            try RawConnection(path: path).run(schema)
            var options = Replica.Options()
            options.durability = .normal
            replicas.append(
                try Replica.create(
                    at: path, InitializeRequest(origin: OriginID(high: UInt64(index + 1), low: 1)), options: options
                ).replica)
        }
        self.replicas = replicas
        inboxes = try replicas.indices.map { index in
            try Inbox(replica: replicas[index], limits: limits) { clocks[index].stamp }
        }
    }

    /// Starts the daemon of a machine anew.
    func restart(_ index: Int) throws {
        try inboxes[index].close()
        let clock = clocks[index]
        inboxes[index] = try Inbox(replica: replicas[index], limits: limits) { clock.stamp }
    }

    subscript(index: Int) -> Replica { replicas[index] }

    func origin(_ index: Int) -> OriginID { OriginID(high: UInt64(index + 1), low: 1) }
    func clock(_ index: Int) -> MachineClock { clocks[index] }

    /// Moves the clocks of these machines, or of all.
    func advance(_ milliseconds: Int64, _ indices: [Int]? = nil) {
        for index in indices ?? Array(clocks.indices) { clocks[index].advance(milliseconds) }
    }

    /// Writes as any program of that machine does, by its clock.
    func execute(_ index: Int, _ sql: String) throws {
        try RawConnection(path: directory.file("\(index).sqlite"), vfs: clocks[index].sqlite.vfs).run(
            "BEGIN; \(sql); COMMIT")
    }

    /// Brings over what `target` wants of what `source` knows.
    ///
    /// - Returns: The changes that were sent, known or not.
    @discardableResult
    func pull(_ target: Int, from source: Int) throws -> (sent: Int, report: ReceiveReport) {
        try replicas[source].refreshDerivedState()
        let have = try inboxes[target].covered(from: inboxes[source].vector())
        var batches: [ChangeBatch] = []
        try replicas[source].read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: limits) { batch in
                batches.append(batch)
                return true
            }
        }
        var report = ReceiveReport()
        for batch in batches { report = report + (try inboxes[target].receive(batch)) }
        return (batches.reduce(0) { $0 + $1.changes.count }, report)
    }

    func settle() throws {
        for _ in 0..<(replicas.count * 2) {
            for target in replicas.indices {
                for source in replicas.indices where source != target { try pull(target, from: source) }
            }
        }
    }

    func text(_ index: Int, _ sql: String) throws -> [String] {
        try replicas[index].read { try String.fetchAll($0, sql: sql) }
    }

    func stamps(_ index: Int) throws -> [Stamp] {
        try replicas[index].read { try JournalReader($0).entries(after: 0, limit: .max).map(\.stamp) }
    }

    func clocks(seenBy index: Int) throws -> ClockReport {
        try replicas[index].read { try ClockReport($0, now: clocks[index].stamp, limits: limits) }
    }
}

/// The clock of one machine.
final class MachineClock: Sendable {
    let sqlite: TestClock
    private let milliseconds: Mutex<Int64>

    init(milliseconds: Int64) {
        sqlite = TestClock(milliseconds: milliseconds)
        self.milliseconds = Mutex(milliseconds)
    }

    var stamp: Stamp { Stamp(milliseconds: milliseconds.withLock { $0 }) }

    func set(_ time: Int64) {
        milliseconds.withLock { $0 = time }
        sqlite.set(milliseconds: time)
    }

    func advance(_ amount: Int64) { set(milliseconds.withLock { $0 } + amount) }
}
