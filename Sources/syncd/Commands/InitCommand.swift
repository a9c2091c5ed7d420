import ArgumentParser
import Journal
import Sync

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a SQLite file a replica: capture every write from now on, by whatever program.",
        discussion: """
            Existing rows become the first changes of this replica. Run it again after a schema change, or to track other \
            tables; a running daemon follows schema changes by itself.
            """)

    @OptionGroup var database: DatabaseArgument

    @Option(
        name: .customLong("table"), parsing: .singleValue,
        help: ArgumentHelp("Track only this table; may be given several times.", valueName: "table"))
    var tables: [String] = []

    @Option(
        name: .customLong("exclude"), parsing: .singleValue,
        help: ArgumentHelp("Do not track this table; may be given several times.", valueName: "table"))
    var excluded: [String] = []

    @Option(
        help: ArgumentHelp(
            "The cluster of the replica. Only replicas of one cluster exchange changes.", valueName: "name"))
    var cluster: String = InitializeRequest.defaultCluster

    @Option(
        name: .customLong("policy"), parsing: .singleValue,
        help: ArgumentHelp(
            "How a table merges: TABLE=column (default), TABLE=row or TABLE=custom:NAME; the same on every machine. May be given several times.",
            valueName: "table=policy"))
    var policies: [TablePolicy] = []

    @Option(
        name: .customLong("renamed"), parsing: .singleValue,
        help: ArgumentHelp(
            "A table that gets another name here goes on exchanging with machines that know the old one. Declare it before the renaming. May be given several times, older names first.",
            valueName: "old=new"))
    var renamed: [RenamedTable] = []

    func validate() throws {
        guard !cluster.isEmpty, cluster.utf8.count <= 200 else {
            throw ValidationError("The name of a cluster has 1 to 200 bytes.")
        }
        if let both = tables.first(where: excluded.contains) {
            throw ValidationError("\(both) is both in --table and in --exclude.")
        }
    }

    func run() async throws {
        try checkPolicies()
        let (replica, report) = try Replica.create(
            at: database.path,
            InitializeRequest(
                tables: tables.isEmpty ? nil : tables, excluding: excluded, renamed: renamed.map(\.renaming),
                cluster: cluster))
        let identity = try replica.identity()
        if !policies.isEmpty {
            try replica.write { db in
                for chosen in policies { try MergePolicy.set(chosen.policy, table: chosen.table, db) }
            }
        }
        let merging = try replica.read { try MergePolicy.all($0) }
        try replica.close()

        let name = ConsoleText.printable(identity.cluster)
        Console.line("\(ConsoleText.printable(database.path)) is replica \(identity.origin) of cluster \(name).")
        Console.line(ConsoleText.count(report.tracked.count, "table is", "tables are") + " tracked:")
        show(
            report.tracked.map { table in
                let policy = merging[SQLText.foldedName(table.table)].map { ", merges by \($0.text)" } ?? ""
                return [table.table, InitCommand.describe(table) + policy]
            })
        for table in report.tracked {
            for warning in table.warnings {
                Console.line("Warning: \(ConsoleText.printable("\(table.table): \(warning)"))")
            }
        }
        if !report.untracked.isEmpty {
            Console.line("Not tracked:")
            show(report.untracked.map { [$0.table, $0.reason] })
        }
    }

    /// Before anything is written, so that a misspelt name leaves the file as it was.
    private func checkPolicies() throws {
        guard !policies.isEmpty else { return }
        let replica = try Replica.reading(database.path)
        defer { try? replica.close() }
        for chosen in policies where try replica.read({ try TableInspection.named(chosen.table, $0) }) == nil {
            throw Failure(
                "--policy names \(chosen.table), which is no table of \(database.path)",
                hint: "Check the name; `.tables` in the sqlite3 shell lists them.")
        }
    }

    private func show(_ rows: [[String]]) {
        guard !rows.isEmpty else { return }
        Console.line(
            ConsoleText.table(
                rows.map { row in ["  " + row[0]] + row.dropFirst() }.map { $0.map(ConsoleText.printable) }))
    }

    private static func describe(_ table: CaptureReport.Tracked) -> String {
        var parts: [String] = []
        if table.adoptedRows > 0 { parts.append(ConsoleText.count(table.adoptedRows, "row") + " journalled") }
        if table.recoveredChanges > 0 {
            parts.append(ConsoleText.count(table.recoveredChanges, "change") + " found that had bypassed capture")
        }
        return parts.isEmpty ? "up to date" : parts.joined(separator: ", ")
    }
}

/// `TABLE=POLICY` on the command line.
struct TablePolicy: ExpressibleByArgument {
    let table: String
    let policy: MergePolicy

    init?(argument: String) {
        guard let equals = argument.lastIndex(of: "="), equals > argument.startIndex,
            let policy = MergePolicy(text: String(argument[argument.index(after: equals)...]))
        else { return nil }
        table = String(argument[..<equals])
        self.policy = policy
    }
}

/// `OLD=NEW` on the command line.
struct RenamedTable: ExpressibleByArgument {
    let renaming: TableNames.Renaming

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex,
            argument.index(after: equals) < argument.endIndex
        else { return nil }
        renaming = .init(old: String(argument[..<equals]), new: String(argument[argument.index(after: equals)...]))
    }
}
