import Journal

/// What a replica must hold, worked out the long way: from the set of changes that it knows and from its schema, by nothing
/// else.
///
/// Written from the definition of merging and of what tables show, and from none of the code that it checks. Everything is
/// a loop over everything; histories are short.
package struct ReferenceModel {
    package let writes: [ReferenceWrite]
    package let schema: ReferenceSchema

    /// The visible rows, each with all its columns.
    package let shown: [ReferenceRowID: [String: Value]]
    /// The rows that are alive and not visible, with the reason.
    package let held: [ReferenceRowID: String]
    package let conflicts: [ReferenceConflict]

    /// - Parameter writes: In any order.
    package init(_ writes: [ReferenceWrite], schema: ReferenceSchema) {
        self.writes = writes
        self.schema = schema
        let view = ReferenceView(ReferenceMerge.rows(writes), schema: schema)
        shown = view.shown
        held = view.held
        conflicts = ReferenceMerge.conflicts(writes)
    }

    /// Breaches of what stamps and lives promise, in words: a stamp passes all that its writer knew, and a life follows from
    /// the lives that its writer knew.
    ///
    /// Of lives this can be told once all is here that the writer knew: who lost a part of what it knew with a restored file may get later
    /// changes before it gets that part again.
    package var brokenRules: [String] {
        let latest = Dictionary(writes.map { ($0.origin, $0.version) }, uniquingKeysWith: max)
        return writes.flatMap { write -> [String] in
            var broken: [String] = []
            let seen = writes.filter { write.saw($0) }
            if let later = seen.first(where: { $0.stamp >= write.stamp }) {
                broken.append("\(write.name) has no later stamp than \(later.name), which it had seen")
            }
            guard write.known.entries.allSatisfy({ latest[$0.origin, default: 0] >= $0.version }) else { return broken }
            let before = seen.filter { $0.row == write.row }.map(\.life).max() ?? 1
            let isAlive = before % 2 == 1
            let expected =
                switch write.operation {
                // An update of a dead key: of a row that takes it, and whose insert follows.
                case .insert, .update: isAlive ? before : before + 1
                case .delete: isAlive ? before + 1 : before
                }
            if write.life != expected {
                broken.append("\(write.name) has life \(write.life); by what it had seen, \(expected)")
            }
            return broken
        }
    }
}
