import Journal
import Logging
import Store
import Sync
import Testing

@Suite("What an inbox tells of")
struct InboxLoggerTests {
    private struct Handler: LogHandler {
        let lines: Collected<String>
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.append("\(event.message)") }
    }

    @Test("goes to the logger that it was given, not to the one of the file")
    func ownLogger() throws {
        let (ofInbox, ofFile) = (Collected<String>(), Collected<String>())
        let source = try TestDatabase()
        let target = try TestDatabase()
        try source.person("Ann")
        let theirs = try Replica.open(at: source.path)
        var options = Replica.Options()
        options.logger = Logger(label: "file") { _ in Handler(lines: ofFile) }
        let mine = try Replica.open(at: target.path, options: options)
        // By a clock of 1970 every stamp lies too far ahead.
        let inbox = try Inbox(replica: mine, logger: Logger(label: "inbox") { _ in Handler(lines: ofInbox) }) {
            Stamp(milliseconds: 1_000)
        }
        try theirs.settle()
        let have = try inbox.have()
        var batches: [ChangeBatch] = []
        try theirs.read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: .standard) { batch in
                batches.append(batch)
                return true
            }
        }
        for batch in batches { #expect(try inbox.receive(batch).isHeldBack) }
        #expect(ofInbox.all.contains { $0.contains("are held back") })
        #expect(!ofFile.all.contains { $0.contains("are held back") })
        try inbox.close()
        try mine.close()
        try theirs.close()
    }
}
