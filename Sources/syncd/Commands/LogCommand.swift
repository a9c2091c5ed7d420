import ArgumentParser
import Journal
import Sync

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the journal: who changed what, when and where.",
        discussion: """
            Oldest first. A line has the position, the time by the clock of the change's origin, the origin, the operation, the \
            row, and the new values. Of an archive, the positions are those in a copy that is made of its oldest snapshot.

            Exit status: 0 success, 1 failure, 64 wrong use.
            """)

    @OptionGroup var database: ReadArgument

    @Option(help: ArgumentHelp("Only changes of this table.", valueName: "table"))
    var table: String?

    @Option(
        help: ArgumentHelp(
            "Only changes of the row with this primary key; a JSON array for a key of several columns.",
            valueName: "key"))
    var key: String?

    @Option(help: ArgumentHelp("Only changes after this position in the journal.", valueName: "seq"))
    var since: Int64 = 0

    @Option(
        help: ArgumentHelp(
            "Only changes that were written by that time, such as 2026-11-21 or 2026-11-21T08:40:19Z.",
            valueName: "time"))
    var at: TimeArgument?

    @Flag(help: "Keep printing new changes as they are committed, until interrupted.")
    var follow = false

    @Flag(help: "One JSON object per line.")
    var json = false

    func validate() throws {
        guard since >= 0 else { throw ValidationError("--since counts from 0.") }
        if follow, database.isArchive {
            throw ValidationError("An archive cannot be followed; follow a replica that follows it.")
        }
    }

    func run() async throws {
        try await database.read(at: at?.stamp, .oldest) { try await print($0) }
    }

    private func print(_ replica: Replica) async throws {
        let filter = LogFilter(table: try table.map { try replica.knownTable($0) }, key: key, until: at?.stamp)
        // Watch first, then read: otherwise a commit between the two would be missed.
        let watch = follow ? try FileWatch(path: database.path) : nil
        defer { watch?.stop() }
        var position = try print(after: since, filter, from: replica)
        if let watch {
            for await _ in watch.changes {
                position = try print(after: position, filter, from: replica)
            }
        }
    }

    /// Prints the entries after `position`.
    ///
    /// - Returns: The position of the newest entry that was read.
    private func print(after position: Int64, _ filter: LogFilter, from replica: Replica) throws -> Int64 {
        var position = position
        while true {
            let page = try LogPage(after: position, in: replica)
            guard let last = page.entries.last else { return position }
            for entry in page.entries where filter.accepts(entry) {
                let line = page.line(entry, isCopy: database.isArchive)
                Console.line(json ? line.json.text : line.text)
            }
            position = last.seq
        }
    }
}

/// Entries of the journal, with what their lines need besides.
struct LogPage: Sendable {
    let entries: [JournalEntry]
    private let own: OriginID
    private let secrets: SecretColumns

    /// Reads the first entries after a position.
    init(after position: Int64, in replica: Replica) throws {
        (own, entries, secrets) = try replica.read { db in
            let reader = try JournalReader(db)
            return (
                reader.identity.origin, try reader.entries(after: position, limit: 1_000), try SecretColumns(db)
            )
        }
    }

    func line(_ entry: JournalEntry, isCopy: Bool = false) -> LogLine {
        LogLine(entry, own: own, secrets: secrets, isCopy: isCopy)
    }
}

/// Selects the entries that `log` shows.
struct LogFilter: Sendable {
    let table: String?
    let key: String?
    /// The latest stamp to show; nil for all.
    var until: Stamp?

    func accepts(_ entry: JournalEntry) -> Bool {
        // What a leaf covers and does not have.
        if entry.shape.isHidden { return false }
        if let until, entry.stamp > until { return false }
        // An entry spells the name of its table as its writer spelled it.
        if let table, SQLText.foldedName(entry.shape.table) != SQLText.foldedName(table) { return false }
        return key.map { KeyPattern(text: $0).matches(entry.keyValues.map(JSONValue.init)) } ?? true
    }
}
