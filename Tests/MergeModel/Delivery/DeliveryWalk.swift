import GRDB
import Journal
import Sync

/// The tree of all orders: each way to begin is gone once, and its end is kept for all ways to go on.
struct DeliveryWalk {
    let receiver: HistoryReplica
    let batches: [ChangeBatch]
    let plan: HistoryPlan
    private(set) var tried = 0
    private var first: (order: [Int], rows: [String])?

    init(receiver: HistoryReplica, batches: [ChangeBatch], plan: HistoryPlan) {
        self.receiver = receiver
        self.batches = batches
        self.plan = plan
    }

    mutating func run() throws { try go(on: [], rest: Array(batches.indices)) }

    /// - Parameter order: What the receiver's file holds.
    private mutating func go(on order: [Int], rest: [Int]) throws {
        if rest.isEmpty { return try compare(order) }
        let here = try DatabaseQueue()
        if rest.count > 1 { try receiver.replica.connections.backup(to: here) }
        for (place, next) in rest.enumerated() {
            if place > 0 { try receiver.reset(to: here) }
            _ = try receiver.inbox.receive(batches[next])
            try go(on: order + [next], rest: rest.filter { $0 != next })
        }
    }

    private mutating func compare(_ order: [Int]) throws {
        tried += 1
        let rows = try receiver.plainRows()
        guard let first else {
            try receiver.settle()
            try receiver.readJournal()
            let model = HistoryContent(ReferenceModel(receiver.writes, schema: receiver.schema))
            let difference = HistoryContent.difference(model, try HistoryContent(receiver))
            guard difference.isEmpty else { throw failure(order, "the model", difference) }
            first = (order, rows)
            return
        }
        guard rows != first.rows else { return }
        let difference =
            first.rows.filter { !rows.contains($0) }.map { "  - \($0)" }
            + rows.filter { !first.rows.contains($0) }.map { "  + \($0)" }
        try receiver.readJournal()
        throw failure(order, "the order \(first.order)", difference)
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
