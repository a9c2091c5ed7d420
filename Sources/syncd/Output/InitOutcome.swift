import Journal
import Sync

/// The output of `syncd init`.
struct InitOutcome: Sendable {
    let path: String
    let identity: Identity
    let tracked: [CaptureReport.Tracked]
    /// Every other table and view of the file, with the reason.
    let untracked: [CaptureReport.Untracked]
    /// By folded name of the table. A table without an entry merges by column.
    let policies: [String: MergePolicy]
    /// The references that are no foreign keys.
    let references: [DeclaredReference]
    /// What merging does with rows whose parent is missing.
    let foreignKeys: ForeignKeyRule
    /// The columns whose values are not shown.
    let secrets: SecretColumns
    /// The program's collations that are mapped to known ones.
    let collations: CollationMap
    /// True when this run has put the file into WAL mode.
    let setsWAL: Bool
    /// What was found in the file before.
    let check: FileCheck

    private func policy(of table: CaptureReport.Tracked) -> MergePolicy {
        policies[SQLText.foldedName(table.table)] ?? .column
    }

    var json: JSONValue {
        .object([
            "origin": .string(identity.origin.description),
            "cluster": .string(identity.cluster),
            "tracked": .array(
                tracked.map { table in
                    .object([
                        "table": .string(table.table),
                        "journalled_rows": .integer(table.adoptedRows),
                        "recovered_changes": .integer(table.recoveredChanges),
                        "policy": .string(policy(of: table).text),
                        "warnings": .array(table.warnings.map { .string($0) }),
                    ])
                }),
            "untracked": .array(untracked.map(\.json)),
            "references": .array(
                references.map {
                    .object(["table": .string($0.table), "column": .string($0.column), "parent": .string($0.parent)])
                }),
            "secrets": .array(
                secrets.all.map { .object(["table": .string($0.table), "column": .string($0.column)]) }),
            "collations": .array(
                collations.all.map { .object(["name": .string($0.name), "as": .string($0.target.word)]) }),
            "foreign_keys": .string(foreignKeys.rawValue),
            "sets_wal": .bool(setsWAL),
            "findings": .array(check.findings.map(\.json)),
        ])
    }

    var lines: [String] {
        let name = ConsoleText.printable(identity.cluster)
        var lines = ["\(ConsoleText.printable(path)) is replica \(identity.origin) of cluster \(name)."]
        if setsWAL { lines.append("The file is in WAL mode from now on; `syncd uninit` takes it out again.") }
        if tracked.isEmpty {
            lines.append("No table is tracked.")
        } else {
            lines.append(ConsoleText.count(tracked.count, "table is", "tables are") + " tracked:")
            lines.append(InitOutcome.indented(tracked.map { [$0.table, describe($0)] }))
        }
        if !references.isEmpty {
            let list = references.map { "\($0.table).\($0.column) to \($0.parent)" }.joined(separator: ", ")
            lines.append(ConsoleText.printable("Declared references: \(list)."))
        }
        if !secrets.all.isEmpty {
            let list = secrets.all.map { "\($0.table).\($0.column)" }.joined(separator: ", ")
            lines.append(ConsoleText.printable("Secret columns: \(list)."))
        }
        if !collations.isEmpty {
            let list = collations.all.map { "\($0.name) as \($0.target.word)" }.joined(separator: ", ")
            lines.append(ConsoleText.printable("Collations of the program: \(list)."))
        }
        lines += foreignKeys.lines(for: check.tablesWithReferences)
        for table in tracked {
            guard let warning = table.replacement else { continue }
            lines.append("Warning: " + ConsoleText.printable("\(table.table): \(warning)."))
        }
        if !tracked.isEmpty {
            lines.append(
                "Beside a daemon, begin transactions that read before they write with BEGIN IMMEDIATE (docs/PROGRAMS.md)."
            )
        }
        if !untracked.isEmpty {
            lines.append("Not tracked:")
            lines.append(InitOutcome.indented(untracked.map { [$0.table, $0.reason] }))
        }
        lines += check.findings.map(\.line)
        return lines
    }

    private func describe(_ table: CaptureReport.Tracked) -> String {
        var parts: [String] = []
        if table.adoptedRows > 0 { parts.append(ConsoleText.count(table.adoptedRows, "row") + " journalled") }
        if table.recoveredChanges > 0 {
            parts.append(ConsoleText.count(table.recoveredChanges, "change") + " found that had bypassed capture")
        }
        if parts.isEmpty { parts.append("up to date") }
        let policy = policy(of: table)
        if policy != .column { parts.append("merges by \(policy.text)") }
        return parts.joined(separator: ", ")
    }

    private static func indented(_ rows: [[String]]) -> String {
        ConsoleText.table(
            rows.map { row in
                row.enumerated().map { index, cell in (index == 0 ? "  " : "") + ConsoleText.printable(cell) }
            })
    }
}
