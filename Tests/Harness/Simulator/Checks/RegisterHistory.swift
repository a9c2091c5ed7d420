import Journal

/// The values that the registers of one machine showed, in order. By their stamps they may only go forward
/// (P13). The stamps are read at the end of a scenario, when one file has everything that is left.
struct RegisterHistory {
    struct Step: Equatable {
        let register: Int
        let before: Int
        let after: Int
    }

    private var shown: [Int: Int] = [:]
    private(set) var steps: [Step] = []

    /// - Parameter values: For each register, the transaction whose write it shows.
    mutating func note(_ values: [Int: Int]) {
        for (register, before) in shown.sorted(by: { $0.key < $1.key }) {
            if let after = values[register], after != before {
                steps.append(Step(register: register, before: before, after: after))
            }
        }
        shown = values
    }

    /// Begins again after the file was replaced or took a new identity: later values do not follow from
    /// earlier ones.
    mutating func beginAnew() { shown = [:] }

    /// - Parameter stamps: The first and the last stamp of each transaction. A transaction without a stamp is lost on
    ///   all machines.
    /// - Returns: The first step to a write that was always older; nil for none.
    func stepBack(_ stamps: [Int: ClosedRange<Stamp>]) -> Step? {
        steps.first { step in
            guard let before = stamps[step.before], let after = stamps[step.after] else { return false }
            return after.upperBound < before.lowerBound
        }
    }
}
