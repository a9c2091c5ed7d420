import TestSupport

/// Which orders of delivery are walked, as a tree: what comes next after each beginning.
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

    /// Beginnings of orders that together take each step once: each way from a set of batches to the set with one more.
    ///
    /// Six batches have 64 sets and 192 such steps, while their 720 orders consist of 1 956 beginnings. When all ways into a set
    /// leave the same state, every order leads from the empty file through states that the tree has seen, by steps that it has
    /// taken, to the state at its end. That conclusion leaves out one thing: two states that look the same might go on
    /// differently. So which of the ways into a set takes which of the steps out of it is drawn: each goes on as far as there are
    /// steps, none is put back to a state that another way made, and six of them are walked to the end.
    static func everyStep(of count: Int, _ random: inout SplitMix) -> DeliveryTree {
        var tree = DeliveryTree()
        // The beginnings that lead to each set, by the set's bits.
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
