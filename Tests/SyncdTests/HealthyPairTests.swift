import Foundation
import Journal
import TestSupport
import Testing

@Suite("Two daemons whose programs write give no false alarm", .timeLimit(.minutes(1)))
struct HealthyPairTests {
    let workspace = Workspace()

    private struct Line: Decodable {
        let time: String
        let level: String
        let event: String
        let message: String
        let status: String?
    }

    /// One of the two sides: a file, and the connection of its program.
    private struct Side {
        let path: String
        let program: RawConnection
        var seen = 0
        var arrivals = 0
    }

    private func makeSide(_ name: String) async throws -> Side {
        let path = workspace.path(name)
        try workspace.execute(path, "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, side INTEGER, n INTEGER)")
        try workspace.execute(path, "CREATE TABLE counter (id TEXT PRIMARY KEY NOT NULL, n INTEGER, side INTEGER)")
        #expect(try await Tool.run("init", path).status == 0)
        return Side(path: path, program: try RawConnection(path: path))
    }

    private func lines(_ log: String) throws -> [Line] {
        try log.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// Both programs write, until changes of the other have come to each several times. They write rows of their
    /// own, and one row together. They pause only when many of their transactions are under way, so a slow machine
    /// has no more to merge than a fast one.
    ///
    /// - Returns: How many rows each has written.
    private func write(_ sides: inout [Side]) async throws -> Int {
        var number = 0
        while sides.contains(where: { $0.arrivals < 15 }) {
            number += 1
            for index in sides.indices {
                try sides[index].program.run(
                    """
                    BEGIN IMMEDIATE; INSERT INTO note VALUES ('\(index)-\(number)', \(index), \(number));
                    UPDATE note SET n = n + 1 WHERE id = '\(index)-\(number / 2)';
                    INSERT INTO counter VALUES ('c', 1, \(index))
                      ON CONFLICT (id) DO UPDATE SET n = n + 1, side = excluded.side; COMMIT
                    """)
            }
            guard number.isMultiple(of: 10) else { continue }
            for index in sides.indices {
                var count = try arrived(at: sides[index], index)
                if number - count >= 500 {
                    let side = sides[index]
                    try await workspace.wait(for: side.path) {
                        count = try arrived(at: side, index)
                        return number - count < 250
                    }
                }
                guard count > sides[index].seen else { continue }
                sides[index].seen = count
                sides[index].arrivals += 1
            }
        }
        return number
    }

    /// How many rows of the other program have come to a side.
    private func arrived(at side: Side, _ index: Int) throws -> Int {
        let count = try side.program.rows("SELECT count(*) FROM note WHERE side <> \(index)").first?[0]
        guard case .integer(let count) = count else { return 0 }
        return Int(count)
    }

    @Test("no request is refused, and no warning is logged", arguments: [false, true])
    func quiet(isMutual: Bool) async throws {
        var sides = [try await makeSide("a.sqlite"), try await makeSide("b.sqlite")]
        let settings = "database: b.sqlite\nlisten: 127.0.0.1:0\nlog-level: debug\nlog-format: json\n"
        let file = try workspace.write(settings, to: "b.yaml")
        let second = try await DaemonProcess.start(configuration: file, environment: [:])
        let first = try await DaemonProcess.start(
            sides[0].path, "--peer", second.url, "--log-level", "debug", "--log-format", "json")
        if isMutual {
            _ = try workspace.write(settings + "peer: [\(first.url)]\n", to: "b.yaml")
            kill(second.processIdentifier, SIGHUP)
        }

        let rows = try await write(&sides) * 2
        for side in sides {
            try await workspace.wait(for: side.path) {
                try workspace.value(side.path, "SELECT count(*) FROM note", as: Int.self) == rows
            }
        }

        let counters = "SELECT n || ' ' || side FROM counter"
        try await workspace.wait(for: sides[0].path) {
            let counter = try workspace.value(sides[0].path, counters, as: String.self)
            return try workspace.value(sides[1].path, counters, as: String.self) == counter
        }

        // The daemon that is stopped later may miss the other one.
        let end = Date().ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
        let logs = [await first.stop(), await second.stop()]
        #expect(logs.allSatisfy { $0.status == 0 })
        let logged = try logs.flatMap { try lines($0.log) }
        let answers = logged.filter { $0.event == "request.answered" }
        #expect(answers.count > 16)
        #expect(answers.allSatisfy { $0.status == "200" })
        let alarms = logged.filter { !["trace", "debug", "info", "notice"].contains($0.level) && $0.time < end }
        #expect(alarms.isEmpty, "\(alarms)")
    }
}
