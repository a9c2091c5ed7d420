import Foundation
import Journal
import Sync
import TestSupport

/// Runs a plan: replicas on real files, and the checks that hold at every moment.
final class History {
    /// A finding of a check, as text for people.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    struct Counts: Sendable {
        var histories = 0
        var steps = 0
        var checks = 0
        var changes = 0
        var held = 0
        var conflicts = 0
        /// Entries that compaction removed.
        var removed = 0
        /// Changes that were made past capture, and found.
        var recaptured: Int64 = 0

        static func += (a: inout Counts, b: Counts) {
            a.histories += b.histories
            a.steps += b.steps
            a.checks += b.checks
            a.changes += b.changes
            a.held += b.held
            a.conflicts += b.conflicts
            a.removed += b.removed
            a.recaptured += b.recaptured
        }
    }

    let plan: HistoryPlan
    let replicas: [HistoryReplica]
    private let directory: TemporaryDirectory
    private(set) var counts = Counts()
    /// The content for each state of knowledge and schema, and the replica that showed it first.
    private var seen: [String: (content: HistoryContent, images: [String], replica: Int)] = [:]
    /// The change that each name stands for, on any replica.
    private var published: [String: ReferenceWrite] = [:]
    private var now = ""
    private var isChecked = true

    /// - Parameter clocks: At least one for each replica. A process keeps each until it ends.
    init(_ plan: HistoryPlan, clocks: [TestClock]) throws {
        let directory = TemporaryDirectory(inMemory: true)
        self.plan = plan
        self.directory = directory
        let limits = Limits.standard
        replicas = try (0..<plan.replicas).map { index in
            try HistoryReplica(
                index, origin: History.origin(plan.ranks[index]), schema: plan.schema,
                file: directory.file("\(index).sqlite"), clock: clocks[index], offset: plan.offsets[index],
                recursiveTriggers: plan.recursiveTriggers[index], limits: limits)
        }
        // A replica that nobody has heard of could only be cloned.
        guard plan.hasCompactions else { return }
        for replica in replicas { for other in replicas where other !== replica { try replica.hear(other) } }
    }

    static func origin(_ rank: Int) -> OriginID { OriginID(high: UInt64(0x10 * (rank + 1)) << 56, low: 1) }

    func close() throws {
        for replica in replicas { try replica.close() }
    }

    // MARK: - Steps

    /// Lets each replica write until it has changed something, except with schemas that take no row.
    func writeEverywhere(_ random: inout SplitMix) throws {
        for replica in replicas {
            for _ in 0..<100 where try replica.hasWrittenNothing() {
                let statement = HistoryStatement.random(on: plan.schema.reference, &random)
                try replica.write([statement], tick: 0, isMarked: true)
            }
        }
    }

    /// Performs the steps and lets all replicas meet. Only the checks of single exchanges run.
    func perform() throws {
        isChecked = false
        for step in plan.steps { try perform(step) }
        try meet()
    }

    /// One batch for each origin with all its changes, in the order of origins.
    func batchesByOrigin() throws -> [ChangeBatch] {
        let all = try replicas[0].inbox.vector()
        return try all.entries.map { entry in
            let others = VersionVector(all.entries.filter { $0.origin != entry.origin })
            return try replicas[0].replica.read { try JournalReader($0).batch(after: others) }
        }
    }

    func run() throws {
        for (index, step) in plan.steps.enumerated() {
            now = "after step \(index + 1)"
            do {
                try perform(step)
            } catch let failure as Failure {
                throw failure
            } catch {
                throw Failure(description: "\(now): \(error)")
            }
            counts.steps += 1
        }
        now = "at the end"
        try meet()
        for replica in replicas {
            try check(replica)
            try checkIntegrity(replica)
        }
        counts.histories += 1
    }

    private func perform(_ step: HistoryPlan.Step) throws {
        switch step {
        case .write(let replica, let statements, let tick, let isMarked):
            try replicas[replica].write(statements, tick: tick, isMarked: isMarked)
        case .pull(let target, let source, let size, let count, let order):
            if try pull(target, from: source, size: size, count: count, order: order) { try check(replicas[target]) }
        case .migrate(let replica, let name, let statements, let tick):
            try replicas[replica].migrate(name, statements, tick: tick)
        case .restart(let replica):
            try replicas[replica].restart()
        case .compact(let replica):
            let outcome = try replicas[replica].compact()
            counts.removed += outcome.removed
            guard outcome.before == outcome.after else {
                let lines =
                    outcome.before.filter { !outcome.after.contains($0) }.map { "- \($0)" }
                    + outcome.after.filter { !outcome.before.contains($0) }.map { "+ \($0)" }
                throw Failure(
                    description: """
                        \(now), replica \(replica): compaction changed the rows that the journal makes:
                        \(lines.joined(separator: "\n"))
                        """)
            }
            try check(replicas[replica])
        case .recapture(let replica, let statements):
            let found = try replicas[replica].recapture(after: statements)
            guard found == 0 || !statements.isEmpty else {
                throw Failure(description: "\(now), replica \(replica): \(found) changes that nobody made")
            }
            counts.recaptured += found
            try check(replicas[replica])
        case .hear(let target, let source):
            try replicas[target].hear(replicas[source])
        case .add(let replica, let addition):
            try replicas[replica].add(addition, plan.schema.additions[addition])
            try check(replicas[replica])
        }
    }

    /// - Returns: Whether any batch arrived.
    @discardableResult
    private func pull(
        _ target: Int, from source: Int, size: Int, count: Int, order: HistoryPlan.Order
    ) throws -> Bool {
        if plan.hasCompactions { try replicas[target].hear(replicas[source]) }
        if try replicas[source].hasNothing(for: replicas[target]) { return false }
        var batches = Array(try replicas[source].batches(for: replicas[target], size: size).prefix(count))
        if let shuffle = order.shuffle {
            var random = SplitMix(seed: shuffle)
            batches = batches.shuffledByOrigin(&random)
        }
        for batch in batches + (order.isRepeated ? batches : []) {
            if let broken = batch.checkInvariants() { throw Failure(description: "\(now): a batch has \(broken)") }
            let arrived = order.isEncoded ? try BatchCodec.decode(BatchCodec.encode(batch), limits: .standard) : batch
            _ = try replicas[target].inbox.receive(arrived)
        }
        return !batches.isEmpty
    }

    /// Exchanges until all know the same: all send to one replica, which then sends to all.
    ///
    /// Each contact begins with a look at the file, which may journal something: a row that was shown with a
    /// substitute, and whose key a program changed, gets its own value back.
    private func meet() throws {
        for replica in replicas { try replica.contact() }
        let center = Int(plan.seed % UInt64(replicas.count))
        let others = replicas.indices.filter { $0 != center }
        for other in others { try pull(center, from: other, size: 100, count: .max, order: .init()) }
        for other in others { try pull(other, from: center, size: 100, count: .max, order: .init()) }
        for replica in replicas { try replica.contact() }
        let vectors = try replicas.map { try $0.inbox.vector() }
        guard vectors.allSatisfy({ $0 == vectors[0] }) else {
            for replica in replicas { try replica.readJournal() }
            throw Failure(
                description: """
                    \(now) the replicas do not converge: \(vectors)
                    what they know:
                    \(Set(replicas.flatMap(\.writes).map { "  \($0)" }).sorted().joined(separator: "\n"))
                    """)
        }
    }

    // MARK: - Checks

    private func check(_ replica: HistoryReplica) throws {
        guard isChecked else { return }
        try replica.contact()
        try replica.readJournal()
        counts.checks += 1
        let place = "\(now), replica \(replica.name)"
        try checkNames(replica, place)
        let content = try HistoryContent(replica)
        let name = "\(replica.read) \(replica.schemaName)"
        let images = try replica.rows("SELECT key, reason, detail, shown, image FROM _journal_held").map {
            $0.map(\.plain).joined(separator: " ")
        }.sorted()
        if let known = seen[name] {
            let difference = HistoryContent.difference(known.content, content)
            guard difference.isEmpty else {
                throw Failure(
                    description: """
                        \(place) knows what replica \(known.replica) knew, and holds something else (- there, + here):
                        \(difference.joined(separator: "\n"))
                        """)
            }
            guard known.images == images else {
                throw Failure(
                    description: """
                        \(place) holds rows in other bytes than replica \(known.replica):
                        \(known.images.joined(separator: "\n"))
                        \(images.joined(separator: "\n"))
                        """)
            }
            return
        }
        seen[name] = (content, images, replica.name)
        let model = ReferenceModel(replica.writes, schema: replica.schema)
        counts.changes += replica.writes.count
        counts.held += model.held.count
        counts.conflicts += model.conflicts.count
        let difference = HistoryContent.difference(HistoryContent(model), content)
        guard difference.isEmpty else {
            throw Failure(
                description: """
                    \(place) differs from the model (- by the model, + in the file):
                    \(difference.joined(separator: "\n"))
                    what it knows:
                    \(replica.writes.map { "  \($0)" }.joined(separator: "\n"))
                    """)
        }
        if let broken = model.brokenRules.first { throw Failure(description: "\(place): \(broken)") }
    }

    /// Checks that one name stands for one change everywhere, and carries what its writer knew.
    private func checkNames(_ replica: HistoryReplica, _ place: String) throws {
        for write in replica.writes {
            if let other = published.updateValue(write, forKey: write.name), other != write {
                throw Failure(description: "\(place): \(write.name) has two contents:\n  \(other)\n  \(write)")
            }
        }
        for write in replica.writes where write.origin == replica.origin {
            let noted = replica.knowledge.last { $0.fromVersion <= write.version }?.merged ?? VersionVector()
            guard write.known == noted else {
                throw Failure(
                    description: "\(place): \(write.name) claims to know \(write.known); its writer knew \(noted)")
            }
        }
    }

    private func checkIntegrity(_ replica: HistoryReplica) throws {
        let problems =
            try replica.rows("PRAGMA integrity_check").filter { $0.first?.plain != "'ok'" }
            + replica.rows("PRAGMA foreign_key_check")
        guard problems.isEmpty else {
            let lines = problems.map { $0.map(\.plain).joined(separator: " ") }
            throw Failure(
                description: "\(now), replica \(replica.name): SQLite finds \(lines.joined(separator: ", "))")
        }
    }
}

extension ReferenceWrite: CustomStringConvertible {
    package var description: String {
        let values = columns.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.plain)" }.joined(separator: " ")
        let rank = migration.map { " by \($0.name) after \($0.stamp.plain), level \($0.level)" } ?? ""
        return
            "\(name) \(isMinted ? "minted " : "")\(isCovering ? "covering " : "")\(operation) \(row.table) \(hex(row.key)) life \(life) at \(stamp.plain)\(rank): \(values); saw \(known)"
    }
}

extension [ChangeBatch] {
    /// Splits the changes into batches of one origin each, in a random order that keeps the order of each
    /// origin.
    func shuffledByOrigin(_ random: inout SplitMix) -> [ChangeBatch] {
        var queues: [[ChangeBatch]] = []
        for batch in self {
            for run in batch.runs {
                let part = batch.only(run)
                if let index = queues.firstIndex(where: { $0[0].runs[0].origin == run.origin }) {
                    queues[index].append(part)
                } else {
                    queues.append([part])
                }
            }
        }
        var result: [ChangeBatch] = []
        while !queues.isEmpty {
            let index = random.below(queues.count)
            result.append(queues[index].removeFirst())
            if queues[index].isEmpty { queues.remove(at: index) }
        }
        return result
    }
}

extension ChangeBatch {
    /// A batch with a single run of this one.
    package func only(_ run: Run) -> ChangeBatch {
        var part = ChangeBatch()
        part.shapes = shapes
        for index in run.changes {
            var change = changes[index]
            let start = part.values.count
            part.values += values[change.values]
            change.values = start..<part.values.count
            part.changes.append(change)
        }
        var run = run
        run.changes = 0..<part.changes.count
        part.runs = [run]
        return part
    }
}
