import Journal

// What a file check found, in the output of `syncd check` and `syncd init`.

extension FileCheck {
    func json(path: String) -> JSONValue {
        .object([
            "file": .string(path),
            "replica": .bool(isReplica),
            "tracked": .array(tracked.map { .string($0) }),
            "accept": .bool(asksToAccept),
            "findings": .array(findings.map(\.json)),
        ])
    }

    /// A line about the file, and one for each finding.
    func lines(path: String) -> [String] {
        let verb =
            isReplica ? (one: "replicates", many: "replicate") : (one: "would replicate", many: "would replicate")
        let count = ConsoleText.count(tracked.count, "table \(verb.one)", "tables \(verb.many)")
        let end = findings.isEmpty ? "; nothing else to know" : ""
        return ["\(ConsoleText.printable(path)): \(count)\(end)."] + findings.map(\.line)
    }
}

extension FileCheck.Finding {
    var json: JSONValue {
        .object([
            "kind": .string(kind.name),
            "accept": .bool(kind.asksToAccept),
            "tables": .array(
                tables.map { table in
                    .object([
                        "table": .string(table.name),
                        "count": .optional(table.count) { .integer($0) },
                        "missing": .optional(table.missing) { .string($0) },
                    ])
                }),
            "finding": .string(sentence),
            "remedy": .string(remedy),
        ])
    }

    /// `Warning: 2 tables have no primary key and do not replicate: log, tmp. Give …`
    var line: String {
        ConsoleText.printable("\(kind.asksToAccept ? "Warning" : "Note"): \(sentence): \(list). \(remedy).")
    }

    private static let listedTables = 5

    /// `log, tmp, song (2) and 12 more`
    private var list: String {
        let shown = tables.prefix(FileCheck.Finding.listedTables).map { table in
            let note = table.count.map { ConsoleText.number($0) } ?? table.missing
            return table.name + (note.map { " (\($0))" } ?? "")
        }
        let more = tables.count - shown.count
        return shown.joined(separator: ", ") + (more > 0 ? " and \(ConsoleText.number(more)) more" : "")
    }

    private func tables(_ one: String, _ many: String) -> String {
        ConsoleText.count(tables.count, "table \(one)", "tables \(many)")
    }

    private func counted(_ one: String, _ many: String) -> String {
        ConsoleText.count(tables.reduce(0) { $0 + ($1.count ?? 0) }, one, many)
    }

    /// What was found, without the tables.
    private var sentence: String {
        switch kind {
        case .untracked(.noPrimaryKey):
            tables("has no primary key and does", "have no primary key and do") + " not replicate"
        case .untracked(.tooManyColumns):
            tables(
                "has more columns than can be journalled and does", "have more columns than can be journalled and do")
                + " not replicate"
        case .untracked(.needsProgram):
            tables("needs", "need") + " a function or a collation that only the program has, and cannot replicate"
        case .untracked(.virtualTable):
            ConsoleText.count(tables.count, "virtual table keeps its", "virtual tables keep their")
                + " content on this machine"
        case .untracked(.reservedName):
            tables("has a name", "have names") + " of Tandem's own and cannot replicate"
        case .untracked(.ambiguousNames):
            tables("has", "have") + " names that differ only in their Unicode form (NFC and NFD), and cannot replicate"
        case .untracked(.migrationNotes):
            tables("notes", "note") + " what a migration tool has done to this file, and stays local"
        case .untracked(let cause):
            tables("stays", "stay") + " local (\(cause.rawValue))"
        case .rowsWithoutKey:
            counted("row has NULL in its primary key and does", "rows have NULL in their primary key and do")
                + " not replicate"
        case .brokenReferences:
            counted("foreign key leads", "foreign keys lead")
                + " to no row: the first exchange takes these rows out of their tables, and `syncd held` lists them"
        case .keptReferences:
            counted("foreign key leads", "foreign keys lead") + " to no row, and these rows stay where they are"
        case .mintedKeys:
            "SQLite generates the keys of \(ConsoleText.count(tables.count, "table")) when an INSERT omits them, "
                + "and two machines can generate the same: the later one of two such rows gets another key"
        case .keptIndexes:
            ConsoleText.count(tables.count, "index that triggers keep also gets", "indexes that triggers keep also get")
                + " what peers write"
        case .staleIndexes:
            ConsoleText.count(tables.count, "index lacks", "indexes lack")
                + " what peers write, because triggers keep it by functions that only the program has"
        }
    }

    private var remedy: String {
        switch kind {
        case .untracked(.noPrimaryKey): "Give them one, or leave them local with --exclude"
        case .untracked(.tooManyColumns): "Split them, or leave them local with --exclude"
        case .untracked(.needsProgram):
            "Map a collation with --collation, load what is missing with --extension, or leave them local with --exclude"
        case .untracked(.virtualTable): "--exclude says that they may stay local, as an index that each machine builds"
        case .untracked(.ambiguousNames), .untracked(.reservedName): "Rename them, or leave them local with --exclude"
        case .untracked(.migrationNotes): "Migrate each machine on its own"
        case .untracked: "--table includes them"
        case .rowsWithoutKey: "Give them a key"
        case .brokenReferences:
            "`PRAGMA foreign_key_check` names them: delete them, add what they refer to, or take --foreign-keys keep"
        case .keptReferences: "--foreign-keys enforce holds them until what they refer to is there"
        case .keptIndexes: "Other effects of triggers replicate by themselves"
        case .staleIndexes: "Build it again in the program after exchanges, or use functions of SQLite"
        case .mintedKeys:
            "Declare what refers to them, as foreign keys or with --references, or give each row a random 64-bit or UUID key"
        }
    }
}
