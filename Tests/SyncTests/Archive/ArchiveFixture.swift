import Journal
import Logging
import TestSupport

@testable import Sync

/// Replicas of one table that share an archive in memory, in which nothing waits: each exchange tells the archive what the
/// replica has merged, and takes what others told.
struct ArchiveFixture {
    let directory = TemporaryDirectory()
    let clock: ManualClock
    let store: MemoryStore

    init() {
        let clock = ManualClock(wall: ReplicaFixture.now.milliseconds)
        self.clock = clock
        store = MemoryStore(clock: { clock.wallMilliseconds() })
    }

    var limits: Limits {
        var limits = Limits.standard
        limits.archive = limits.archive.ofOneExchange
        limits.archive.acknowledgementMilliseconds = 0
        // Several parts, also of a small file.
        limits.archive.snapshotPartBytes = 16_384
        return limits
    }

    var settings: ReplicaFixture.Settings {
        var settings = ReplicaFixture.Settings(limits: limits)
        settings.clock = clock
        return settings
    }

    func replica(_ name: String) throws -> ReplicaFixture {
        try ReplicaFixture(
            .make(
                at: directory.file(name), schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)", InitializeRequest(),
                options: settings.options), settings)
    }

    /// - Parameter other: The clock of the replica's machine; nil for that of the store.
    func transport(
        _ fixture: ReplicaFixture, logger: Logger? = nil, clock other: ManualClock? = nil
    ) -> ArchiveTransport {
        ArchiveTransport(
            store, replica: fixture.replica, limits: limits, clock: other ?? clock, logger: logger,
            entropy: { UInt64.random(in: .min ... .max) })
    }

    func collector(_ settings: CollectionSettings) -> ArchiveCollector {
        ArchiveCollector(
            store, settings: settings, limits: limits, entropy: { UInt64.random(in: .min ... .max) })
    }

    func exchange(_ fixture: ReplicaFixture) async throws {
        let transport = transport(fixture)
        try await fixture.exchange(over: transport)
        try await transport.finish()
    }
}
