/// Few scenarios that together take every rare path and see every kind of fault, out of many that were run.
package struct Cover {
    /// A scenario of the cover, and what it was chosen for.
    package struct Choice: Sendable, Equatable {
        /// Its arguments for `simulate`.
        package let words: [String]
        /// The names of marks and of kinds of faults.
        package let reasons: [String]

        /// Its lines of a list that `--replay` reads.
        package var lines: String { "# \(reasons.joined(separator: ", "))\n\(words.joined(separator: " "))\n" }
    }

    private struct Life {
        let number: Int
        let words: [String]
        let events: Int
        let seen: Set<String>
    }

    private var lives: [Life] = []
    /// In how many scenarios each mark and each kind of fault was seen.
    private var frequency: [String: Int] = [:]

    package init() {}

    package mutating func note(_ request: Campaign.Request, _ counts: Counts) {
        let marks = counts.marks.filter { $0.value > 0 }.map(\.key.rawValue)
        let faults = counts.faults.filter { $0.value > 0 }.map(\.key.rawValue)
        let seen = Set(marks + faults)
        for name in seen { frequency[name, default: 0] += 1 }
        lives.append(Life(number: lives.count, words: request.words, events: max(1, counts.events), seen: seen))
    }

    /// The greedy choice of a set cover: the next scenario is the one that adds most for its events. A change of the
    /// engine changes what scenarios do, so each path is taken by three of them, where there are three.
    ///
    /// - Returns: The choices, in the order of the scenarios.
    package var choices: [Choice] {
        var wanted = frequency.mapValues { min(3, $0) }
        var left = lives
        var chosen: [(number: Int, choice: Choice)] = []
        while !wanted.isEmpty {
            func gain(_ life: Life) -> Double { Double(life.seen.count { wanted[$0] != nil }) / Double(life.events) }
            guard let next = left.indices.max(by: { gain(left[$0]) < gain(left[$1]) }) else { break }
            let life = left.remove(at: next)
            let reasons = life.seen.filter { wanted[$0] != nil }.sorted()
            for name in reasons { wanted[name] = wanted[name].flatMap { $0 > 1 ? $0 - 1 : nil } }
            chosen.append((life.number, Choice(words: life.words, reasons: reasons)))
        }
        return chosen.sorted { $0.number < $1.number }.map(\.choice)
    }
}
