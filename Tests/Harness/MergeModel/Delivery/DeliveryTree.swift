import TestSupport

/// The orders of delivery that are walked, as a tree: the next batches after each prefix of an order.
struct DeliveryTree {
    private var next: [[Int]: [Int]] = [:]

    /// The batches that are delivered after `order`, each to the state that `order` led to.
    func next(after order: [Int]) -> [Int] { next[order] ?? [] }

    /// Every order of `count` batches.
    static func everyOrder(of count: Int) -> DeliveryTree {
        var tree = DeliveryTree()
        var orders: [[Int]] = [[]]
        while let order = orders.popLast() {
            let rest = (0..<count).filter { !order.contains($0) }
            tree.next[order] = rest
            orders += rest.map { order + [$0] }
        }
        return tree
    }

    /// Prefixes of orders that together take each step once: each way from a set of batches to the set with
    /// one more.
    ///
    /// Six batches have 64 sets and 192 such steps, while their 720 orders consist of 1 956 prefixes. When
    /// all ways into a set leave the same state, every order leads from the empty file to the state at its
    /// end through states that the tree has seen, by steps that it has taken. This conclusion misses one
    /// case: two states that look the same might behave differently later. So it is random which way into a
    /// set takes which step out of it. Each way continues as long as there are steps, no way is reset to a
    /// state that another way made, and six ways are walked to the end.
    static func everyStep(of count: Int, _ random: inout SplitMix) -> DeliveryTree {
        var tree = DeliveryTree()
        // The prefixes that lead to each set; the key has a bit for each batch.
        var ways: [Int: [[Int]]] = [0: [[]]]
        for _ in 0..<count {
            var longer: [Int: [[Int]]] = [:]
            for (set, orders) in ways.sorted(by: { $0.key < $1.key }) {
                let orders = orders.shuffled(using: &random)
                let rest = (0..<count).filter { set >> $0 & 1 == 0 }.shuffled(using: &random)
                for (turn, batch) in rest.enumerated() {
                    let order = orders[turn % orders.count]
                    tree.next[order, default: []].append(batch)
                    longer[set | 1 << batch, default: []].append(order + [batch])
                }
            }
            ways = longer
        }
        return tree
    }
}
