import Foundation
import GRDB
import Journal
import Sync
import TestSupport

/// One life of three replicas, of which some are away for longer than their leases, which its seed determines.
///
/// The others write, exchange, and compact as if the absent ones did not exist; these write as well, and come back.
/// Properties:
/// 1. A value that a returning replica wrote unseen, and shows, is shown by all replicas at the end, is held, or is
///    in the ledger of all. Every value is written once in a life.
/// 2. The same holds for what the others wrote while it was away.
/// 3. In the end, all replicas show the same, hold the same, and have the same ledger.
/// 4. A note refers to the user whose name it has, whatever keys SQLite chose, and a user who was added unseen is shown.
final class ReturnLife: Life {
    private(set) var story: [String] = []
    /// How many replicas came back.
    private var returns = 0
    /// Of the rows that these had written, how many others had changed as well.
    private var contested = 0
    var counts: [Int] { [returns, contested] }

    private var random: SplitMix
    private let directory = TemporaryDirectory()
    private var machines: [ReplicaFixture] = []
    /// The replicas that are away.
    private var away: Set<Int> = []
    private var values = 0
    /// The values that must be accounted for at the end.
    private var owed: Set<String> = []

    init(seed: UInt64) throws {
        random = SplitMix(seed: seed)
        let unique = random.chance(40) ? "UNIQUE" : ""
        let action = ["CASCADE", "SET NULL", "NO ACTION"][random.below(3)]
        let schema = """
            CREATE TABLE item(id INTEGER PRIMARY KEY, a TEXT, b TEXT, c INTEGER \(unique));
            CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE note(id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES user(id) ON DELETE \(action), body TEXT);
            CREATE TABLE local(machine INTEGER, number INTEGER);
            """
        story.append(schema)
        for index in 0..<3 {
            machines.append(
                try ReplicaFixture(
                    directory.file("\(index).sqlite"), schema: schema,
                    origin: OriginID(high: UInt64(index + 1), low: 1)))
            try machines[index].execute("INSERT INTO local VALUES (\(index), 1)")
        }
    }

    /// - Throws: ``Difference``, and errors of the files.
    func run() async throws {
        for key in 1...4 {
            try machines[0].execute("INSERT INTO item VALUES (\(key), 'a\(key)', 'b\(key)', \(key + 10))")
            try machines[0].execute("INSERT INTO user VALUES (\(key), 'first u\(key)')")
        }
        for _ in 0..<(1 + random.below(3)) {
            for _ in 0..<(2 + random.below(6)) { try write(random.below(3)) }
            try level()
            away = Set([random.below(3)] + (random.chance(30) ? [random.below(3)] : []))
            story.append("\(away.sorted()) are away")
            for _ in 0..<(6 + random.below(20)) { try step() }
            for index in away.sorted() { try await comeBack(index) }
        }
        try level()
        try check()
        for machine in machines { try machine.close() }
    }

    // MARK: - Steps

    private var present: [Int] { machines.indices.filter { !away.contains($0) } }

    private func step() throws {
        switch random.below(10) {
        case 0...5: try write(random.below(3))
        case 6, 7:
            let (target, source) = (present[random.below(present.count)], present[random.below(present.count)])
            guard target != source else { return }
            story.append("\(target) <- \(source)")
            try machines[target].pull(from: machines[source])
        default:
            let index = present[random.below(present.count)]
            // Stable is everything, once all that are present know the same.
            try level()
            let removed = try machines[index].compact()
            story.append("\(index) compacts \(removed) entries")
        }
    }

    private func write(_ index: Int) throws {
        func value() -> String {
            values += 1
            return "'v\(values)'"
        }
        let key = 1 + random.below(5)
        let user = 1 + random.below(7)
        let sql =
            switch random.below(12) {
            case 0: "INSERT OR IGNORE INTO item VALUES (\(key), \(value()), \(value()), \(random.below(4)))"
            case 1: "INSERT OR IGNORE INTO item (a, b) VALUES (\(value()), \(value()))"
            case 2...4: "UPDATE item SET a = \(value()) WHERE id = \(key)"
            case 5, 6: "UPDATE OR IGNORE item SET b = \(value()), c = \(random.below(4)) WHERE id = \(key)"
            case 7: "DELETE FROM item WHERE id = \(key)"
            case 8: "INSERT INTO user (name) VALUES ('first ' || \(value()))"
            case 9: "UPDATE user SET name = \(value()) WHERE id = \(user)"
            case 10:
                """
                INSERT INTO note (user_id, body)
                SELECT id, 'of ' || name || ' ' || \(value()) FROM user WHERE id = \(user)
                """
            default: "DELETE FROM note WHERE id = \(key)"
            }
        story.append("\(index): \(sql)")
        try RawConnection.writeLater("PRAGMA foreign_keys = ON; " + sql, at: machines[index].path)
    }

    /// Lets the replicas that are present exchange until they know the same.
    private func level() throws {
        let present = present.map { machines[$0] }
        guard try present.converge({ target, source in try present[target].pull(from: present[source]) }) else {
            throw Difference(description: "The replicas do not converge")
        }
    }

    private func comeBack(_ index: Int) async throws {
        try level()
        let peer = present[random.below(present.count)]
        try machines[index].inbox.bringBackHeldRows()
        // Behind the horizon, or as good as: what comes back is the same.
        let mine = try unseen(index, by: peer)
        let theirs = try unseen(peer, by: index)
        let endpoint = Endpoint(
            replica: machines[peer].replica, inbox: machines[peer].inbox, limits: .standard, clock: SystemClock(),
            changes: { AsyncStream { _ in } })
        let report = try await Return(machines[index].inbox, from: LocalTransport(endpoint, name: "\(peer)")).run()
        DatabaseCopy.remove(report.kept)
        away.remove(index)
        returns += 1
        contested += report.contested
        owed.formUnion(mine)
        owed.formUnion(theirs)
        story.append(
            "\(index) comes back by \(peer) as \(report.identity.new.short): \(report.unseen) unseen, \(report.written) written, "
                + "\(report.contested) contested, \(report.rekeyed) rekeyed")
        try level()
        try check()
        // What is written later may overwrite everything.
        owed = []
    }

    /// The values that a replica shows and that are in changes which the other one lacks.
    private func unseen(_ index: Int, by other: Int) throws -> Set<String> {
        let seen = try machines[other].vector
        let shown = try shown(index)
        return try machines[index].replica.read { db in
            let reader = try JournalReader(db)
            var written: Set<String> = []
            try reader.forEachEntry { entry in
                guard entry.version > seen[entry.origin ?? reader.identity.origin] else { return }
                written.formUnion(entry.columns.compactMap { $0.value.plainText })
            }
            return written.intersection(shown)
        }
    }

    // MARK: - Checks

    private func shown(_ index: Int) throws -> Set<String> {
        Set(
            try machines[index].text(
                "SELECT a FROM item UNION ALL SELECT b FROM item UNION ALL SELECT name FROM user UNION ALL SELECT body FROM note"
            ))
    }

    private func content(_ index: Int) throws -> [String] {
        try machines[index].text(
            """
            SELECT 'item ' || id || ' ' || quote(a) || quote(b) || quote(c) FROM item UNION ALL
            SELECT 'user ' || id || ' ' || quote(name) FROM user UNION ALL
            SELECT 'note ' || id || ' ' || quote(user_id) || quote(body) FROM note UNION ALL
            SELECT 'held ' || hex(key) || ' ' || reason || ' ' || hex(image) FROM _journal_held ORDER BY 1
            """)
    }

    private func ledger(_ index: Int) throws -> [ConflictEntry] {
        try machines[index].replica.read { try ConflictEntry.all($0) }
    }

    private func check() throws {
        let present = present
        for index in present { try machines[index].inbox.bringBackHeldRows() }
        let (first, entries) = (try content(present[0]), try ledger(present[0]))
        func line(_ entry: ConflictEntry) -> String {
            "\(entry.kind) \(entry.table) \(entry.key) lost \(entry.lostOrigin.short) \(entry.lost) kept \(entry.keptOrigin.short)"
        }
        for index in present.dropFirst() {
            let other = try content(index)
            guard other == first else {
                let different = Set(other).symmetricDifference(first).sorted()
                throw Difference(description: "\(index) shows something else than \(present[0]): \(different)")
            }
            let (mine, theirs) = (Set(try ledger(index).map(line)), Set(entries.map(line)))
            guard mine == theirs else {
                let different = mine.symmetricDifference(theirs).sorted()
                throw Difference(description: "\(index) has another ledger than \(present[0]): \(different)")
            }
        }
        for index in present {
            let problems = try machines[index].text("PRAGMA integrity_check").filter { $0 != "ok" }
            guard problems.isEmpty else { throw Difference(description: "\(index): \(problems)") }
            let local = try machines[index].text("SELECT machine || '' FROM local")
            guard local == ["\(index)"] else { throw Difference(description: "\(index) has the local rows \(local)") }
        }
        var accounted = try shown(present[0])
        for entry in entries { accounted.formUnion(entry.lost.compactMap { $0.value.plainText }) }
        let held = try machines[present[0]].text("SELECT hex(image) FROM _journal_held").joined()
        let lost = owed.subtracting(accounted).filter { value in
            !held.contains(value.utf8.map { String(format: "%02X", $0) }.joined())
        }
        // Nobody else can have known a user that was added unseen.
        let strangers = try owed.filter { $0.hasPrefix("first ") }.subtracting(shown(present[0]))
        guard strangers.isEmpty else { throw Difference(description: "Nobody shows the users \(strangers.sorted())") }
        guard lost.isEmpty else { throw Difference(description: "Nobody shows \(lost.sorted()), and no ledger has it") }
        let mixed = try machines[present[0]].text(
            """
            SELECT note.id || ': ' || body || ' refers to ' || name FROM note JOIN user ON user.id = user_id
            WHERE name LIKE 'first %' AND instr(body, name) = 0
            """)
        guard mixed.isEmpty else { throw Difference(description: "Notes are mixed up: \(mixed)") }
    }
}
