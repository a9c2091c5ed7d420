import Sync
import TestSupport

/// One hub of the archive: a process without a disk, which ends and begins again.
///
/// Unchecked: see ``Scheduler``.
final class SimulatedHub: @unchecked Sendable {
    /// Its address in the network, behind those of the machines.
    let address: Int
    private let scheduler: Scheduler
    let clock: MachineClock
    private let store: ArchiveStore
    private let limits: Limits
    private var entropy: SplitMix
    private var process: Process?

    init(
        _ index: Int, scheduler: Scheduler, clock: MachineClock, store: ArchiveStore, limits: Limits, entropy: SplitMix
    ) {
        address = SimulatedHub.address(of: index)
        self.scheduler = scheduler
        self.clock = clock
        self.store = store
        self.limits = limits
        self.entropy = entropy
    }

    static func address(of index: Int) -> Int { firstAddress + index }
    static func isAddress(_ number: Int) -> Bool { number >= firstAddress }
    private static let firstAddress = 32

    /// nil while the process is down.
    var server: Server? { process?.server }

    /// - Parameter peers: The hubs that it follows.
    func start(peers: [any Transport]) {
        guard process == nil else { return }
        let draws = Draws(SplitMix(seed: entropy.next()))
        let life = Life(ArchiveClient(store: store, machine: address))
        let hub = Hub(life, limits: limits, clock: clock, entropy: { draws.next() })
        let executor = ProcessExecutor(scheduler, willRun: {}, didRun: {})
        let endpoint = HubEndpoint(hub)
        process = Process(
            life: life, executor: executor,
            server: Server(endpoint: endpoint, snapshots: HubSnapshots(endpoint: endpoint), executor: executor),
            task: Task(executorPreference: executor) {
                await PreferredExecutor.$current.withValue(executor) {
                    await withTaskGroup(of: Void.self) { group in
                        for peer in peers { group.addTask { await hub.follow(peer) } }
                        await hub.run()
                    }
                }
            })
    }

    /// Ends the process. What it has sent to the store still arrives there.
    func kill() {
        guard let process else { return }
        self.process = nil
        process.life.isOver = true
        process.task.cancel()
        scheduler.drain(process.executor)
    }

    private struct Process {
        let life: Life
        let executor: ProcessExecutor
        let server: Server
        let task: Task<Void, Never>
    }
}

/// The way to the store of one process: it ends with the process.
///
/// Unchecked: see ``Scheduler``.
private final class Life: ObjectStore, @unchecked Sendable {
    private let base: ArchiveClient
    var isOver = false

    init(_ base: ArchiveClient) { self.base = base }

    var name: String { base.name }

    func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool { try await open.create(key, bytes) }
    func replace(_ key: String, _ bytes: [UInt8]) async throws { try await open.replace(key, bytes) }
    func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? { try await open.get(key, range: range) }
    func list(_ prefix: String, after: String?) async throws -> Listing { try await open.list(prefix, after: after) }
    func delete(_ key: String) async throws { try await open.delete(key) }

    private var open: ArchiveClient {
        get throws(SyncError) {
            guard !isOver else { throw SyncError(.cancelled, "the process has ended") }
            return base
        }
    }
}

/// The snapshots of an archive, as its hub passes them on.
private struct HubSnapshots: SnapshotSource {
    let endpoint: HubEndpoint

    var name: String { "hub" }
    func snapshot() async throws -> SnapshotAnswer { try await endpoint.snapshot() }
    func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        try await endpoint.part(index, of: id, encoding: .none)
    }
}
