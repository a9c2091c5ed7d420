import Journal
import Store
import Sync
import TestSupport
import Testing

@Suite("The log lines of an inbox")
struct InboxLoggerTests {
    @Test("go to the inbox's own logger, not to the one of the file")
    func ownLogger() throws {
        let (ofInbox, ofFile) = (LogRecord(), LogRecord())
        let source = try TestDatabase()
        let target = try TestDatabase()
        try source.person("Ann")
        let theirs = try ReplicaFixture(.open(at: source.path))
        var options = Replica.Options()
        options.logger = ofFile.logger
        let mine = try Replica.open(at: target.path, options: options)
        // With a clock of 1970 every stamp is too far ahead.
        let inbox = try Inbox(replica: mine, logger: ofInbox.logger) {
            Stamp(milliseconds: 1_000)
        }
        for batch in try theirs.batches(after: inbox.have()) { #expect(try inbox.receive(batch).isDeferred) }
        #expect(ofInbox.all.contains { $0.message.contains("are held back") })
        #expect(!ofFile.all.contains { $0.message.contains("are held back") })
        try inbox.close()
        try mine.close()
        try theirs.close()
    }
}
