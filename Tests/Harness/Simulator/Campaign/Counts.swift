/// What happened in a life, or in many.
public struct Counts: Sendable, Codable {
    public var lives = 0
    public var events = 0
    public var transactions = 0
    public var statements = 0
    public var requests = 0
    public var checks = 0
    public var modelChecks = 0
    public var changesChecked = 0
    /// Batches that were delivered once more to see that nothing changes.
    public var redeliveries = 0
    public var virtualSeconds: Int64 = 0
    public var faults: [FaultKind: Int] = [:]
    public var marks: [Mark: Int] = [:]
    /// Lives in which a file was restored or copied.
    public var livesWithCopies = 0

    public init() {}

    public var totalFaults: Int { faults.values.reduce(0, +) }

    public static func += (a: inout Counts, b: Counts) {
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

    /// Marks that never came.
    public var missing: [Mark] { Mark.allCases.filter { marks[$0, default: 0] == 0 } }

    /// Kinds of faults that never happened.
    public var missingFaults: [FaultKind] { FaultKind.allCases.filter { faults[$0, default: 0] == 0 } }
}
