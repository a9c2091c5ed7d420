import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// Two services on two files, and a daemon beside each:
///
///     service A ── a.sqlite ── syncd A  <── HTTP ──>  syncd B ── b.sqlite ── service B
@Suite("Two services on two replicas", .timeLimit(.minutes(2)))
struct TwoMachinesTests {
    let directory = TemporaryDirectory()

    @Test("a todo of one service appears on the other's page; separate edits are both kept; a delete arrives")
    func liveOnBothSides() async throws {
        let (fileA, fileB) = (directory.file("a.sqlite"), directory.file("b.sqlite"))
        let serviceA = try await ServerProcess.start("todo-service", fileA, "--port", "0")
        let serviceB = try await ServerProcess.start("todo-service", fileB, "--port", "0")
        let (a, b) = (ServiceClient(port: serviceA.port), ServiceClient(port: serviceB.port))
        let daemonA = try await ServerProcess.start("syncd", "run", fileA, "--listen", "127.0.0.1:0")
        let daemonB = try await follow(daemonA, with: fileB)

        let milk = try await b.withEvents { events in
            #expect(try await events.next() == .list([]))
            let made = try await a.send(.POST, "/todos", json: #"{"title": "Buy milk"}"#).json(TodoAnswer.self)
            let arrived = try #require(try await events.next())
            #expect(arrived.isRemote && arrived.todos == [made])
            return made
        }
        try await a.withEvents { events in
            #expect(try await events.next() == .list([milk]))
            _ = try await b.send(.PATCH, "/todos/\(milk.id)", json: #"{"title": "Buy oat milk"}"#)
            let arrived = try #require(try await events.next())
            #expect(arrived.isRemote && arrived.todos.map(\.title) == ["Buy oat milk"])
        }

        // Without a connection, each changes another column of the same row.
        #expect(await daemonB.stop() == 0)
        _ = try await a.send(.PATCH, "/todos/\(milk.id)", json: #"{"title": "Buy soy milk"}"#)
        _ = try await b.send(.PATCH, "/todos/\(milk.id)", json: #"{"done": true}"#)
        let both = TodoAnswer(id: milk.id, title: "Buy soy milk", done: true)
        try await a.withEvents { eventsOfA in
            try await b.withEvents { eventsOfB in
                let again = try await follow(daemonA, with: fileB)
                #expect(try await eventsOfA.next { $0.todos == [both] }?.isRemote == true)
                #expect(try await eventsOfB.next { $0.todos == [both] }?.isRemote == true)

                _ = try await b.send(.DELETE, "/todos/\(milk.id)")
                let gone = try #require(try await eventsOfA.next())
                #expect(gone.isRemote && gone.todos.isEmpty)
                #expect(try await a.send(.GET, "/todos").json([TodoAnswer].self).isEmpty)
                #expect(await again.stop() == 0)
            }
        }
        for process in [serviceA, serviceB, daemonA] { #expect(await process.stop() == 0) }
    }

    /// Starts the daemon on `file` as a peer of `other`: one of the two must have the other's address.
    private func follow(_ other: ServerProcess, with file: String) async throws -> ServerProcess {
        try await ServerProcess.start("syncd", "run", file, "--listen", "127.0.0.1:0", "--peer", other.url)
    }
}
