import Journal
import Sync

// A comparison, in the output of `syncd verify`.

extension VerifyReport {
    /// - Parameter repair: What was repaired before this comparison; nil when there was nothing to repair.
    func json(repair: RepairReport?) -> JSONValue {
        .object([
            "peer": .string(peer),
            "equal": .bool(!differs),
            "complete": .bool(isComplete),
            "same_changes": .bool(ours == theirs),
            "vector": .vector(ours),
            "peer_vector": .vector(theirs),
            "tables": .array(tables.map(\.json)),
            "not_replicated": .array(notReplicated.map(\.json)),
            "held_rows": .integer(Int64(heldRows)),
            "repair": .optional(repair) { $0.json },
        ])
    }

    /// `Equal: 31 rows in 3 tables`, `Equal in 7 tables; 4 not compared, 2 rows held`, `Different`
    var conclusion: String {
        let compared = tables.filter { $0.problem == nil }
        let extent = ConsoleText.count(compared.count, "table")
        let rows = ConsoleText.count(compared.reduce(0) { $0 + $1.rows }, "row")
        if isComplete { return differs ? "Different" : "Equal: \(rows) in \(extent)" }
        let end = leftOut.joined(separator: ", ")
        return (differs ? "Different" : "Equal in \(extent)") + (end.isEmpty ? "" : "; \(end)")
    }

    /// What was not compared, counted: `4 not compared`, `11 not replicated`, `2 rows held`.
    private var leftOut: [String] {
        var parts: [String] = []
        let without = tables.count { $0.problem != nil }
        if without > 0 { parts.append("\(ConsoleText.number(without)) not compared") }
        let partly = tables.count { $0.problem == nil && !$0.isComplete }
        if partly > 0 { parts.append("\(ConsoleText.number(partly)) compared in part") }
        if !notReplicated.isEmpty { parts.append("\(ConsoleText.number(notReplicated.count)) not replicated") }
        if heldRows > 0 { parts.append(ConsoleText.count(heldRows, "row") + " held") }
        return parts
    }

    /// A line for each table, and one for each listed difference.
    var lines: [String] {
        var lines: [String] = []
        let listed = Set(tables.map { SQLText.foldedName($0.name) })
        let rows =
            tables.map { [ConsoleText.printable($0.name), $0.summary] }
            + notReplicated.filter { !listed.contains(SQLText.foldedName($0.table)) }.map {
                [ConsoleText.printable($0.table), "not replicated: " + ConsoleText.printable($0.reason)]
            }
        if !rows.isEmpty { lines.append(ConsoleText.table(rows)) }
        for table in tables {
            let name = ConsoleText.printable(table.name)
            for difference in table.differences {
                let key = difference.key.map(\.value.shown).joined(separator: ", ")
                lines.append("  \(name) [\(key)]: \(difference.kind.summary)")
            }
            let more = table.onlyHere + table.onlyThere + table.differing - table.differences.count
            if more > 0 { lines.append("  and \(ConsoleText.count(more, "more row", "more rows")) of \(name)") }
        }
        return lines
    }
}

extension VerifyReport.Table {
    var json: JSONValue {
        .object([
            "name": .string(name),
            "rows": .integer(Int64(rows)),
            "equal": .bool(isEqual),
            "differing": .integer(Int64(differing)),
            "only_here": .integer(Int64(onlyHere)),
            "only_there": .integer(Int64(onlyThere)),
            "not_compared": .array((unmatchedColumns + retypedColumns).map { .string($0) }),
            "problem": .optional(problem) { .string($0) },
            "differences": .array(differences.map(\.json)),
        ])
    }

    fileprivate var summary: String {
        if let problem { return "not compared: " + ConsoleText.printable(problem) }
        var parts = [ConsoleText.count(rows, "row")]
        if isEqual { parts.append("equal") }
        if differing > 0 { parts.append("\(ConsoleText.number(differing)) different") }
        if onlyHere > 0 { parts.append("\(ConsoleText.number(onlyHere)) only here") }
        if onlyThere > 0 { parts.append("\(ConsoleText.number(onlyThere)) only there") }
        if !unmatchedColumns.isEmpty { parts.append("not compared: \(ConsoleText.list(unmatchedColumns))") }
        if !retypedColumns.isEmpty {
            parts.append("not compared, because stored as another type there: \(ConsoleText.list(retypedColumns))")
        }
        return parts.joined(separator: ", ")
    }
}

extension VerifyReport.Difference {
    fileprivate var json: JSONValue {
        .object([
            "key": .columns(key.map { (name: $0.column, value: $0.value) }),
            "kind": .string(kind.name),
            "columns": .array(kind.columns.map { .string($0) }),
        ])
    }
}

extension VerifyReport.Difference.Kind {
    fileprivate var name: String {
        switch self {
        case .onlyHere: "only_here"
        case .onlyThere: "only_there"
        case .differs: "differs"
        }
    }

    /// The columns that differ.
    fileprivate var columns: [String] {
        if case .differs(let columns) = self { columns } else { [] }
    }

    fileprivate var summary: String {
        switch self {
        case .onlyHere: "only here"
        case .onlyThere: "only there"
        case .differs(let columns): ConsoleText.list(columns) + " differ"
        }
    }
}

extension RepairReport {
    fileprivate var json: JSONValue {
        .object([
            "captured": .integer(Int64(captured)),
            "captured_at_peer": .integer(Int64(capturedThere)),
            "left_at_peer": .integer(Int64(leftThere)),
            "rebuilt": .integer(Int64(rebuilt)),
            "announced": .integer(Int64(announced)),
            "taken": .integer(Int64(taken)),
            "held": .integer(Int64(held)),
        ])
    }

    /// One line, and one for each thing that the operator should know of it.
    var lines: [String] {
        let parts = [
            (captured, " here taken as written by a program"),
            (capturedThere, " at the peer taken as written by a program"),
            (rebuilt, " here rebuilt from the journal"),
            (announced, " sent to the peer again"),
            (taken, " taken from the peer"),
            (held, " left alone because they are held here"),
        ].filter { $0.0 > 0 }.map { ConsoleText.count($0.0, "row") + $0.1 }
        var lines = ["Repaired: " + (parts.isEmpty ? "nothing" : parts.joined(separator: ", ")) + "."]
        if captured + capturedThere > 0 {
            lines.append(
                "Such rows differ from their own file's journal: a write bypassed capture, or the disk damaged them. They are "
                    + "ordinary changes now; `syncd log` lists them, and `syncd restore` brings back what was before.")
        }
        if leftThere > 0 {
            lines.append(
                ConsoleText.count(leftThere, "row") + " at the peer differ from the journal there. Run `syncd verify "
                    + "--repair` beside that file to keep them, or here with --from-journal to overwrite them.")
        }
        return lines
    }
}
