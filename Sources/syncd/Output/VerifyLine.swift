import Journal
import Sync

// A comparison, in the output of `syncd verify`.

extension VerifyReport {
    /// - Parameter repair: What was repaired before this comparison; nil when there was nothing to repair.
    func json(repair: RepairReport?) -> JSONValue {
        .object([
            "peer": .string(peer),
            "equal": .bool(isEqual),
            "same_changes": .bool(ours == theirs),
            "vector": .vector(ours),
            "peer_vector": .vector(theirs),
            "tables": .array(tables.map(\.json)),
            "repair": .optional(repair) { $0.json },
        ])
    }

    /// `31 rows in 3 tables`
    var extent: String {
        let rows = tables.reduce(0) { $0 + $1.rows }
        return "\(ConsoleText.count(rows, "row")) in \(ConsoleText.count(tables.count, "table"))"
    }

    /// A line for each table, and one for each listed difference.
    var lines: [String] {
        var lines: [String] = []
        if !tables.isEmpty {
            lines.append(ConsoleText.table(tables.map { [ConsoleText.printable($0.name), $0.summary] }))
        }
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
        if let problem { return ConsoleText.printable(problem) }
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
            "rebuilt": .integer(Int64(rebuilt)),
            "announced": .integer(Int64(announced)),
            "taken": .integer(Int64(taken)),
            "held": .integer(Int64(held)),
        ])
    }

    var summary: String {
        var parts = [
            ConsoleText.count(rebuilt, "row") + " here rebuilt from the journal",
            ConsoleText.count(announced, "row") + " sent to the peer again",
        ]
        if taken > 0 { parts.append(ConsoleText.count(taken, "row") + " taken from the peer") }
        if held > 0 { parts.append(ConsoleText.count(held, "row") + " left alone because they are held here") }
        return "Repaired: " + parts.joined(separator: ", ") + "."
    }
}
