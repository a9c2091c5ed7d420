import Journal

/// What the registers of one machine showed, one value after the other. By their stamps they only go forward (P13); the stamps are looked up
/// at the end of a life, when all that is left of it is in one file.
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

    /// The file holds less from now on, or bears another name: what it shows next follows from nothing that it showed.
    mutating func beginAnew() { shown = [:] }

    /// - Parameter stamps: When each transaction wrote. One that is missing is lost everywhere.
    /// - Returns: The first step to an older write; nil for none.
    func stepBack(_ stamps: [Int: Stamp]) -> Step? {
        steps.first { step in
            guard let before = stamps[step.before], let after = stamps[step.after] else { return false }
            return after < before
        }
    }
}
