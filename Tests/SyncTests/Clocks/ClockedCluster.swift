import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// Replicas on machines with settable clocks: the clock of SQLite, which stamps writes, and the clock of the
/// daemon, which judges the stamps of others.
final class ClockedCluster {
    /// The start of all clocks: the real time, which ``Replica/write(_:)`` uses for stamps. Each cluster
    /// reads it again, because a run of all tests takes longer than the allowed difference of clocks.
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    static let year: Int64 = 365 * 86_400_000

    let directory = TemporaryDirectory()
    private let members: [ReplicaFixture]
    let limits: Limits
    private let clocks: [SettableClock]

    var inboxes: [Inbox] { members.map(\.inbox) }

    init(_ count: Int, schema: String, limits: Limits = .standard) throws {
        self.limits = limits
        let clocks = (0..<count).map { [now] _ in SettableClock(milliseconds: now) }
        self.clocks = clocks
        members = try clocks.enumerated().map { [directory] index, clock in
            try ReplicaFixture(
                directory.file("\(index).sqlite"), schema: schema, origin: ClockedCluster.origin(index),
                ReplicaFixture.Settings(limits: limits) { clock.stamp })
        }
    }

    /// Restarts the daemon of a machine.
    func restart(_ index: Int) throws { try members[index].restartInbox() }

    subscript(index: Int) -> Replica { members[index].replica }

    private static func origin(_ index: Int) -> OriginID { OriginID(high: UInt64(index + 1), low: 1) }
    func origin(_ index: Int) -> OriginID { ClockedCluster.origin(index) }
    func clock(_ index: Int) -> SettableClock { clocks[index] }

    /// Moves the clocks of these machines, or all clocks.
    func advance(_ milliseconds: Int64, _ indices: [Int]? = nil) {
        for index in indices ?? Array(clocks.indices) { clocks[index].advance(milliseconds) }
    }

    /// Runs SQL as any program of that machine does, by its clock.
    func execute(_ index: Int, _ sql: String) throws {
        try RawConnection(path: directory.file("\(index).sqlite"), vfs: clocks[index].sqlite.vfs).run(
            "BEGIN; \(sql); COMMIT")
    }

    /// Pulls what `target` lacks of what `source` knows.
    ///
    /// - Returns: The number of changes that were sent, with those that `target` knew, and the report of the
    ///   inbox.
    @discardableResult
    func pull(_ target: Int, from source: Int) throws -> (sent: Int, report: ReceiveReport) {
        let have = try members[target].inbox.covered(from: members[source].vector)
        let batches = try members[source].batches(after: have)
        return (batches.reduce(0) { $0 + $1.changes.count }, try members[target].receive(batches))
    }

    /// Exchanges until all know the same, or until two rounds for each machine are over. Changes of a
    /// deferred origin may still be missing then.
    func converge() throws {
        _ = try members.converge { target, source in try pull(target, from: source) }
    }

    func text(_ index: Int, _ sql: String) throws -> [String] { try members[index].text(sql) }

    func stamps(_ index: Int) throws -> [Stamp] {
        try members[index].replica.read { try JournalReader($0).entries(after: 0, limit: .max).map(\.stamp) }
    }

    func clocks(seenBy index: Int) throws -> ClockReport {
        try members[index].replica.read { try ClockReport($0, now: clocks[index].stamp, limits: limits) }
    }
}

/// The clock of one machine: that of its SQLite and that of its daemon.
final class SettableClock: Sendable {
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
