import Journal
import Store
import Sync
import TestSupport
import Testing

@Suite("What an inbox tells of")
struct InboxLoggerTests {
    @Test("goes to the logger that it was given, not to the one of the file")
    func ownLogger() throws {
        let (ofInbox, ofFile) = (LogRecord(), LogRecord())
        let source = try TestDatabase()
        let target = try TestDatabase()
        try source.person("Ann")
        let theirs = try Replica.open(at: source.path)
        var options = Replica.Options()
        options.logger = ofFile.logger
        let mine = try Replica.open(at: target.path, options: options)
        // By a clock of 1970 every stamp lies too far ahead.
        let inbox = try Inbox(replica: mine, logger: ofInbox.logger) {
            Stamp(milliseconds: 1_000)
        }
        try theirs.refreshDerivedState()
        let have = try inbox.have()
        var batches: [ChangeBatch] = []
        try theirs.read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: .standard) { batch in
                batches.append(batch)
                return true
            }
        }
        for batch in batches { #expect(try inbox.receive(batch).isDeferred) }
        #expect(ofInbox.all.contains { $0.message.contains("are held back") })
        #expect(!ofFile.all.contains { $0.message.contains("are held back") })
        try inbox.close()
        try mine.close()
        try theirs.close()
    }
}
