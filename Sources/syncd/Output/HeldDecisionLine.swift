import Journal

/// What a decision about a held row has done, in the output of `syncd held DB restore|drop|reparent`.
struct HeldDecisionLine: Sendable {
    let action: HeldCommand.Action
    /// The row as it was held.
    let entry: HeldEntry
    /// The rows that were inserted again because of it.
    let restored: [RestoredParent]
    /// The row as it is held afterwards; nil when it is not.
    let still: HeldEntry?

    var json: JSONValue {
        guard case .object(let members) = entry.json else { return entry.json }
        return .object(
            [JSONValue.Member(name: "action", value: .string(action.rawValue))] + members + [
                JSONValue.Member(
                    name: "restored",
                    value: .array(
                        restored.map { row in
                            .object([
                                "table": .string(row.table),
                                "key": .columns(row.key.map { (name: $0.column, value: $0.value) }),
                            ])
                        })),
                JSONValue.Member(name: "still_held", value: .optional(still) { .string($0.reason) }),
            ])
    }

    /// `Restored held row 3: book [7]. Inserted again: author [2].`
    var text: String {
        let done =
            switch action {
            case .restore: "Restored"
            case .drop: "Dropped"
            case .reparent: "Gave another parent to"
            }
        var sentences = ["\(done) held row \(entry.row?.id ?? 0): \(HeldDecisionLine.name(entry.table, entry.key))."]
        if !restored.isEmpty {
            let rows = restored.map { HeldDecisionLine.name($0.table, $0.key) }.joined(separator: ", ")
            sentences.append("Inserted again: \(rows).")
        }
        if let still {
            sentences.append("It is still held: \(still.reason), \(ConsoleText.printable(still.detail)).")
        }
        return sentences.joined(separator: " ")
    }

    private static func name(_ table: String, _ key: [ConflictEntry.Column]) -> String {
        "\(ConsoleText.printable(table)) [\(key.map(\.value.shown).joined(separator: ", "))]"
    }
}

extension HeldEntry {
    /// True when both are about one row.
    func isSameRow(as other: HeldEntry) -> Bool {
        table == other.table && row != nil && key.map(\.value) == other.key.map(\.value)
    }
}
