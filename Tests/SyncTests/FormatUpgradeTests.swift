import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// `Fixtures/format3` are two files as a release with format 3 left them, as SQL: two conflicts, a held row, and a change
/// of `a` that `b` lacks.
@Suite("Files of format 3 open, upgrade, and go on")
struct FormatUpgradeTests {
    private func load(_ name: String, into directory: TemporaryDirectory) throws -> ReplicaFixture {
        let dump = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/format3/\(name).sql")
        let path = directory.file("\(name).sqlite")
        try RawConnection(path: path).run(String(contentsOf: dump, encoding: .utf8))
        let replica = try Replica.open(at: path, options: .unsynced)
        return try ReplicaFixture(replica)
    }

    private func rows(_ fixture: ReplicaFixture) throws -> [String] {
        try fixture.replica.read { db in
            try String.fetchAll(
                db, sql: "SELECT id || ' ' || name || ' ' || age || ' ' || email FROM person ORDER BY id")
                + String.fetchAll(db, sql: "SELECT id || ' ' || person || ' ' || place FROM visit ORDER BY id")
        }
    }

    @Test("rows, changes, the ledger and held rows stay; exchanges, compaction and new writes work")
    func goOn() throws {
        let directory = TemporaryDirectory()
        let (a, b) = (try load("a", into: directory), try load("b", into: directory))
        #expect(
            try a.vector.entries.map(\.version).sorted() == [4, 11]
                && b.vector.entries.map(\.version).sorted() == [4, 10])
        try b.pull(from: a)
        try a.pull(from: b)
        let expected = ["1 Anne 32 a@x", "2 Bob 77 b@x", "4 Dan 1 d@x", "5 Eve 5 e@x", "1 1 Oslo", "2 2 Rome"]
        for fixture in [a, b] {
            #expect(try rows(fixture) == expected)
            let counts = try fixture.replica.read { db in
                try ["_journal_conflicts", "_journal_held"].map {
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")
                }
            }
            #expect(counts == [2, 1])
        }
        for age in 1...3 { try b.execute("UPDATE person SET age = \(age) WHERE id = '2'") }
        for _ in 1...2 {
            try a.pull(from: b)
            try a.hear(b)
            try b.hear(a)
        }
        #expect(try a.compactWhatIsStable() > 0 && b.compactWhatIsStable() > 0)
        #expect(try rows(a) == rows(b) && rows(a)[1] == "2 Bob 3 b@x")
        try a.close()
        try b.close()
    }
}
