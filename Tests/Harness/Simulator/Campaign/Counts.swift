/// Counts of one scenario, or of many.
package struct Counts: Sendable, Codable {
    package var lives = 0
    package var events = 0
    package var transactions = 0
    package var statements = 0
    package var requests = 0
    package var checks = 0
    package var modelChecks = 0
    package var changesChecked = 0
    /// Batches that were delivered again, to see that nothing changes.
    package var redeliveries = 0
    package var virtualSeconds: Int64 = 0
    package var faults: [FaultKind: Int] = [:]
    package var marks: [Mark: Int] = [:]
    /// Scenarios in which a file was restored or copied.
    package var livesWithCopies = 0

    package init() {}

    package var totalFaults: Int { faults.values.reduce(0, +) }

    package static func += (a: inout Counts, b: Counts) {
        a.lives += b.lives
        a.events += b.events
        a.transactions += b.transactions
        a.statements += b.statements
        a.requests += b.requests
        a.checks += b.checks
        a.modelChecks += b.modelChecks
        a.changesChecked += b.changesChecked
        a.redeliveries += b.redeliveries
        a.virtualSeconds += b.virtualSeconds
        a.livesWithCopies += b.livesWithCopies
        a.faults.merge(b.faults, uniquingKeysWith: +)
        a.marks.merge(b.marks, uniquingKeysWith: +)
    }

    mutating func note(_ fault: FaultKind) { faults[fault, default: 0] += 1 }
    mutating func note(_ mark: Mark, _ times: Int = 1) { if times > 0 { marks[mark, default: 0] += times } }

    /// Marks that were never reached.
    package var missing: [Mark] { Mark.allCases.filter { marks[$0, default: 0] == 0 } }

    /// Kinds of faults that never happened.
    package var missingFaults: [FaultKind] { FaultKind.allCases.filter { faults[$0, default: 0] == 0 } }
}
