import Sync
import TestSupport

/// The object store of a scenario, and the network before it. Requests arrive late, once more, or not at all, and
/// answers are late or lost. A request that is on its way arrives although its sender died or gave up.
///
/// Unchecked: see ``Scheduler``.
final class ArchiveStore: @unchecked Sendable {
    /// The number of its archive.
    let index: Int
    private let scheduler: Scheduler
    private let network: NetworkPlan
    private let limits: Limits
    private let seed: SplitMix
    /// The store's clock at the start of the scenario, in milliseconds since 1970.
    private let start: Int64
    private var objects: MemoryObjects
    private var backup: [String: [UInt8]]?
    /// The number of requests of each machine; each draws from a stream of its own.
    private var sent: [Int: Int] = [:]
    /// How many partitions each machine is in.
    private var cut: [Int: Int] = [:]
    /// How often the store is down now.
    private var outages = 0
    private var isHealed = false
    /// How many archives were made here: a store that was restored may have lost one.
    private(set) var made = 0
    /// The latest time at which something may arrive that was sent before all faults ended.
    private(set) var latestArrival: Int64 = 0

    /// True when the processes of a machine have just died: nothing that they still send arrives.
    var isDead: (Int) -> Bool = { _ in false }
    /// True while the daemon of a machine stops in good order. It waits for its last requests, and in this harness the
    /// time stands still until it has stopped.
    var isStopping: (Int) -> Bool = { _ in false }
    var note: (FaultKind) -> Void = { _ in }
    var mark: (Mark) -> Void = { _ in }
    var trace: (String) -> Void = { _ in }
    /// Gets the bytes of each new pack, and the machine that wrote it.
    var onPack: (Int, [UInt8]) -> Void = { _, _ in }

    init(
        _ index: Int, _ scheduler: Scheduler, plan: ArchivePlan, network: NetworkPlan, limits: Limits, start: Int64,
        seed: SplitMix
    ) {
        self.index = index
        self.scheduler = scheduler
        self.network = network
        self.limits = limits
        self.start = start + plan.clockOffset
        self.seed = seed
        objects = MemoryObjects(createsOnce: plan.createsOnce)
    }

    /// For traces.
    var name: String { index == 0 ? "store" : "store-\(index + 1)" }

    private var now: Int64 { start + scheduler.now }

    // MARK: - Faults

    /// Cuts machines off from the store.
    func block(_ machines: [Int]) { for machine in machines { cut[machine, default: 0] += 1 } }
    func unblock(_ machines: [Int]) { for machine in machines { cut[machine, default: 0] -= 1 } }

    /// Lets the store refuse everything for a while.
    func goDown(for time: Int64) {
        outages += 1
        scheduler.after(time) { [self] in outages -= 1 }
    }

    func backUp() { backup = objects.content }

    /// - Returns: False without a backup.
    func restore() -> Bool {
        guard let backup else { return false }
        objects.restore(backup, at: now)
        return true
    }

    /// Cuts or removes one object.
    ///
    /// - Returns: Its key; nil when there is none.
    func damage(_ random: inout SplitMix) -> String? {
        // Without its description, an archive can only be made anew by hand.
        let keys = objects.keys.filter { $0 != ArchiveStore.meta }
        guard !keys.isEmpty else { return nil }
        let key = random.pick(keys)
        let bytes = objects.get(key) ?? []
        if random.chance(50) || bytes.isEmpty {
            objects.delete(key)
        } else {
            objects.replace(key, Array(bytes.dropLast(1 + random.below(bytes.count))), at: now)
        }
        return key
    }

    /// Ends all faults: everything that is sent from here on arrives.
    func heal() { isHealed = true }

    private var isUp: Bool { isHealed || outages == 0 }

    private func isReached(by machine: Int) -> Bool { isHealed || cut[machine, default: 0] == 0 }

    // MARK: - Requests

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - line: What it is, for the trace.
    ///   - effect: What it does when it arrives.
    func send<Answer>(
        _ line: String, bytes: Int, from machine: Int, _ call: StoreCall<Answer>,
        _ effect: @escaping (ArchiveStore) -> Answer
    ) {
        guard !isDead(machine) else { return call.fail(SyncError(.unreachable, "the machine is down")) }
        sent[machine, default: 0] += 1
        var random = stream(machine)
        let fate = Fate(
            plan: isHealed ? NetworkPlan(delay: network.delay) : network, path: ArchiveStore.path, bytes: bytes, &random
        )
        for kind in fate.kinds { note(kind) }
        trace("\(machine)->\(name) \(line) \(fate.kinds.map(\.rawValue).joined(separator: " "))")
        guard !isStopping(machine) else { return serveAtOnce(machine, call, fate, effect) }
        let patience = Int64(limits.lowSpeedSeconds) * 1_000
        if !isHealed { latestArrival = max(latestArrival, scheduler.now + max(patience, fate.repeatedAfter ?? 0)) }
        let deadline = scheduler.after(patience) { call.fail(SyncError(.timedOut, "the store did not answer in time")) }
        call.whenDone = { [scheduler] in scheduler.cancel(deadline) }
        scheduler.after(fate.delay) { [self] in
            guard isReached(by: machine) else { return }
            guard !fate.isRefused, isUp else {
                return call.fail(SyncError(.unreachable, "the store cannot be reached"))
            }
            guard fate.requestCut == nil else {
                return call.fail(SyncError(.unreachable, "the connection was reset"))
            }
            answer(effect(self), to: call, of: machine, fate)
        }
        if let delay = fate.repeatedAfter {
            // The request arrives once more; nobody reads this answer.
            scheduler.after(fate.delay + delay) { [self] in if isUp { _ = effect(self) } }
        }
    }

    /// Serves a request of a daemon that stops, for which no time passes.
    private func serveAtOnce<Answer>(
        _ machine: Int, _ call: StoreCall<Answer>, _ fate: Fate, _ effect: (ArchiveStore) -> Answer
    ) {
        let lost = SyncError(.timedOut, "the store did not answer in time")
        guard isReached(by: machine), !fate.isRefused, isUp, fate.requestCut == nil else {
            return call.fail(lost)
        }
        let answer = effect(self)
        if fate.isAnswerLost || fate.answerCut != nil { call.fail(lost) } else { call.succeed(answer) }
    }

    private func answer<Answer>(_ answer: Answer, to call: StoreCall<Answer>, of machine: Int, _ fate: Fate) {
        guard !fate.isAnswerLost, isReached(by: machine) else { return }
        scheduler.after(fate.delay) {
            guard fate.answerCut == nil else {
                return call.fail(SyncError(.truncated, "the answer of the store was cut off"))
            }
            call.succeed(answer)
        }
    }

    private func stream(_ machine: Int) -> SplitMix {
        var base = seed
        let salt = UInt64(machine) << 32 | UInt64(sent[machine] ?? 0)
        return SplitMix(seed: base.next() ^ salt &* 0x9E6C_63D0_876A_68DE)
    }

    // MARK: - Effects

    func create(_ key: String, _ bytes: [UInt8], by machine: Int) -> Bool {
        guard objects.create(key, bytes, at: now) else { return false }
        if key.hasPrefix(ArchiveStore.packs) {
            mark(.packWritten)
            onPack(machine, bytes)
        } else if key.hasPrefix(ArchiveStore.manifests) {
            mark(.snapshotArchived)
        } else if key == ArchiveStore.meta {
            made += 1
        }
        return true
    }

    func replace(_ key: String, _ bytes: [UInt8]) { objects.replace(key, bytes, at: now) }
    func get(_ key: String, range: Range<Int>?) -> [UInt8]? { objects.get(key, range: range) }
    func list(_ prefix: String, after: String?) -> Listing { objects.list(prefix, after: after) }

    func delete(_ key: String) {
        if key.hasPrefix(ArchiveStore.packs), objects.get(key) != nil { mark(.packCollected) }
        objects.delete(key)
    }

    /// The keys that were created again with other bytes.
    var overwritten: [String] { objects.overwritten }

    // MARK: - Keys (docs/ARCHIVE.md)

    private static let path = "store"
    private static let meta = "1/meta"
    static let packs = "1/w/"
    private static let manifests = "1/m/"
}

/// The store as one machine reaches it.
struct ArchiveClient: ObjectStore {
    let store: ArchiveStore
    let machine: Int

    var name: String { store.index == 0 ? "archive" : "archive-\(store.index + 1)" }

    func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        try await send("create", key, bytes) { [machine] in $0.create(key, bytes, by: machine) }
    }

    func replace(_ key: String, _ bytes: [UInt8]) async throws {
        try await send("replace", key, bytes) { $0.replace(key, bytes) }
    }

    func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? {
        try await send("get", key) { $0.get(key, range: range) }
    }

    func list(_ prefix: String, after: String?) async throws -> Listing {
        try await send("list", prefix) { $0.list(prefix, after: after) }
    }

    func delete(_ key: String) async throws { try await send("delete", key) { $0.delete(key) } }

    private func send<Answer: Sendable>(
        _ verb: String, _ key: String, _ bytes: [UInt8] = [], _ effect: @escaping (ArchiveStore) -> Answer
    ) async throws -> Answer {
        let call = StoreCall<Answer>()
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    guard call.begin(continuation) else { return }
                    store.send("\(verb) \(key)", bytes: bytes.count, from: machine, call, effect)
                }
            } onCancel: {
                call.cancel()
            }
        } catch is CancellationError {
            throw SyncError(.cancelled, "the work with the store was stopped")
        }
    }
}
