import ArgumentParser
import Journal
import Sync

struct InitCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a SQLite file a replica: capture every write of every program from now on.",
        discussion: """
            Existing rows become the first changes of this replica. Prints which tables are tracked, and which tables and \
            views are not, and why. Run it again after a schema change, or to track other tables; a running daemon follows \
            schema changes by itself.

            First it checks the file as `syncd check` does. When rows would not replicate, or would leave their tables at the \
            first exchange, it changes nothing and asks for --accept.

            Exit status: 0 success, 1 failure with the file unchanged, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Option(
        name: .customLong("table"), parsing: .singleValue,
        help: ArgumentHelp(
            "Track only this table; may be given several times (default: every table with a primary key).",
            valueName: "table"))
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
        name: .customLong("references"), parsing: .singleValue,
        help: ArgumentHelp(
            "A column that holds keys of another table without a foreign key, so that it follows when a row gets another key: CHILD.COLUMN=PARENT; the same on every machine. CHILD.COLUMN= takes it back. May be given several times.",
            valueName: "child.column=parent"))
    var references: [ReferenceArgument] = []

    @Option(
        name: .customLong("renamed"), parsing: .singleValue,
        help: ArgumentHelp(
            "A table that is renamed here; it keeps exchanging with machines that know the old name. Declare it before you rename the table. May be given several times, older names first.",
            valueName: "old=new"))
    var renamed: [RenamedTable] = []

    @Option(
        name: .customLong("secret"), parsing: .singleValue,
        help: ArgumentHelp(
            "A column whose values no log, listing or page shows; they replicate like others. May be given several times.",
            valueName: "table.column"))
    var secrets: [ColumnArgument] = []

    @OptionGroup var foreignKeys: ForeignKeyOption

    @OptionGroup var collations: CollationOption

    @Flag(
        help:
            "Compare the rows of a replica with its journal, and take what programs wrote past capture as changes of this machine."
    )
    var recapture = false

    @Flag(help: "Go on although rows would not replicate, or would leave their tables; see `syncd check`.")
    var accept = false

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
        guard !cluster.isEmpty, cluster.utf8.count <= 200 else {
            throw ValidationError("The name of a cluster has 1 to 200 bytes.")
        }
        if let both = tables.first(where: excluded.contains) {
            throw ValidationError("\(both) is both in --table and in --exclude.")
        }
    }

    func run() async throws {
        try checkNames()
        var request = foreignKeys.request(
            InitializeRequest(
                tables: tables.isEmpty ? nil : tables, excluding: excluded, renamed: renamed.map(\.renaming),
                cluster: cluster))
        request = collations.request(request)
        request.recaptures = recapture
        let check = try await checked(request)
        let (replica, report) = try await journal(request)
        if !policies.isEmpty || !references.isEmpty || !secrets.isEmpty {
            try replica.write { db in
                for chosen in policies { try MergePolicy.set(chosen.policy, table: chosen.table, db) }
                for reference in references { try reference.apply(db) }
                try SecretColumns.declare(secrets.map { .init(table: $0.table, column: $0.column) }, db)
            }
        }
        let outcome = try replica.read { db in
            try InitOutcome(
                path: database.path, identity: Identity(db), tracked: report.tracked,
                untracked: report.untracked + TableInspection.untrackable(db), policies: MergePolicy.all(db),
                references: DeclaredReference.all(db), foreignKeys: ForeignKeyRule.of(db),
                secrets: SecretColumns(db), collations: CollationMap(db), setsWAL: report.setsWAL, check: check)
        }
        try replica.close()
        if json {
            Console.line(outcome.json.text)
        } else {
            for line in outcome.lines { Console.line(line) }
        }
    }

    /// Checks the file, and asks the operator when that is due.
    private func checked(_ request: InitializeRequest) async throws -> FileCheck {
        let path = database.path
        let check = try await ProgressLine.during(
            "Checking \(path)", detail: { "reading" },
            work: { try await blocking { try Replica.check(at: path, request) } })
        guard check.asksToAccept, !check.isReplica, !accept else { return check }
        if !json {
            for finding in check.findings { Console.line(finding.line) }
        }
        throw Failure(
            "\(path) has rows that would not replicate, or would leave their tables; it was not changed",
            hint: "`syncd check` lists them. Mend them, leave tables local with --exclude, or go on with --accept.")
    }

    /// Makes the file a replica: writes every existing row into the journal.
    private func journal(_ request: InitializeRequest) async throws -> (Replica, CaptureReport) {
        let path = database.path
        let before = FileSizes(path: path)
        return try await ProgressLine.during(
            "Making \(path) a replica",
            detail: {
                let now = FileSizes(path: path)
                let bytes = max(now.file + now.log - before.file - before.log, 0)
                return ConsoleText.count(bytes, "byte") + " written"
            },
            work: {
                try await blocking {
                    let created = try Replica.create(at: path, request)
                    return (created.replica, created.report)
                }
            })
    }

    /// Runs before anything is written, so that a misspelt name leaves the file unchanged.
    private func checkNames() throws {
        guard !policies.isEmpty || !references.isEmpty || !secrets.isEmpty else { return }
        let replica = try Replica.reading(database.path)
        defer { try? replica.close() }
        for chosen in policies where try replica.read({ try TableInspection.named(chosen.table, $0) }) == nil {
            throw Failure(
                "--policy names \(chosen.table), which is no table of \(database.path)",
                hint: "Check the name; `.tables` in the sqlite3 shell lists them.")
        }
        for reference in references { try replica.read { try reference.check(database.path, $0) } }
        for secret in secrets { try replica.read { try secret.checkSecret(database.path, $0) } }
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
