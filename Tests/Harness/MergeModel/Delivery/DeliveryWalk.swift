import GRDB
import Journal
import Sync
import TestSupport

/// Delivers batches to one receiver along a ``DeliveryTree``. Each prefix is delivered once, and its state is
/// kept for all its continuations.
///
/// Each set of batches must leave one state for every way: the state that the first way left, which equals
/// the model's.
struct DeliveryWalk {
    let receiver: HistoryReplica
    let batches: [ChangeBatch]
    let plan: HistoryPlan
    let tree: DeliveryTree
    private(set) var steps = 0
    /// The number of orders that were walked to their end.
    private(set) var orders = 0
    /// The number of deliveries of something that the receiver had.
    private(set) var repeats = 0
    /// The state that each set of batches left at first; the key has a bit for each batch.
    private var seen: [Int: (order: [Int], state: [String])] = [:]
    /// One image of the file for each number of batches, to which the walk resets.
    private let images: [DatabaseQueue]
    private var random: SplitMix

    init(
        receiver: HistoryReplica, batches: [ChangeBatch], plan: HistoryPlan, tree: DeliveryTree, random: SplitMix
    ) throws {
        self.receiver = receiver
        self.batches = batches
        self.plan = plan
        self.tree = tree
        self.random = random
        images = try batches.map { _ in try DatabaseQueue() }
    }

    /// Walks from a receiver that holds nothing. The receiver holds nothing at the end.
    mutating func run() throws {
        let fresh = try DatabaseQueue()
        try receiver.replica.connections.backup(to: fresh)
        try go(on: [])
        try receiver.reset(to: fresh)
    }

    /// - Parameter order: The batches that the receiver's file holds.
    private mutating func go(on order: [Int]) throws {
        let next = tree.next(after: order)
        if next.count > 1 { try receiver.replica.connections.backup(to: images[order.count]) }
        for (place, batch) in next.enumerated() {
            if place > 0 { try receiver.reset(to: images[order.count]) }
            _ = try receiver.inbox.receive(batches[batch])
            steps += 1
            let longer = order + [batch]
            let state = try compare(longer)
            if random.chance(12) { try deliverAgain(longer, state) }
            if longer.count == batches.count { orders += 1 }
            try go(on: longer)
        }
    }

    /// - Returns: The receiver's state.
    private mutating func compare(_ order: [Int]) throws -> [String] {
        let set = order.reduce(0) { $0 | 1 << $1 }
        let state = try receiver.plainState()
        if let known = seen[set] {
            guard known.state == state else {
                throw failure(order, "the order \(known.order)", DeliveryWalk.difference(known.state, state))
            }
            return state
        }
        let model = HistoryContent(ReferenceModel(receiver.writes, schema: receiver.schema))
        let difference = HistoryContent.difference(model, try HistoryContent(receiver))
        guard difference.isEmpty else { throw failure(order, "the model", difference) }
        seen[set] = (order, state)
        return state
    }

    /// Delivers batches that are there, or an empty one. Nothing may change.
    private mutating func deliverAgain(_ order: [Int], _ state: [String]) throws {
        repeats += 1
        let batch = random.chance(20) ? ChangeBatch() : batches[random.pick(order)]
        _ = try receiver.inbox.receive(random.chance(50) ? batch : batch.runs.first.map(batch.only) ?? batch)
        let after = try receiver.plainState()
        guard after == state else {
            throw failure(order, "itself after a repeated delivery", DeliveryWalk.difference(state, after))
        }
    }

    private static func difference(_ expected: [String], _ found: [String]) -> [String] {
        expected.filter { !found.contains($0) }.map { "  - \($0)" }
            + found.filter { !expected.contains($0) }.map { "  + \($0)" }
    }

    private func failure(_ order: [Int], _ what: String, _ difference: [String]) -> History.Failure {
        History.Failure(
            description: """
                the order \(order) differs from \(what) (- there, + here):
                \(difference.joined(separator: "\n"))
                the changes in this order:
                \(receiver.writes.map { "  \($0)" }.joined(separator: "\n"))
                the schema:
                  \(plan.schema.statements.joined(separator: "\n  "))
                """)
    }
}
