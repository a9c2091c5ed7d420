import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// Two services on two files, and daemons that connect them: as in ``TwoMachinesTests``.
@Suite("A client of two instances sees its own writes", .timeLimit(.minutes(2)))
struct ReadYourWritesTests {
    let directory = TemporaryDirectory()

    private func instance(_ name: String) async throws -> (service: ServerProcess, client: ServiceClient) {
        let service = try await ServerProcess.start("todo-service", directory.file(name), "--port", "0")
        return (service, ServiceClient(port: service.port))
    }

    @Test("with the token of its last write, a read at the other instance shows the write each time")
    func both() async throws {
        let (serviceA, a) = try await instance("a.sqlite")
        let (serviceB, b) = try await instance("b.sqlite")
        let daemonA = try await ServerProcess.start(
            "syncd", "run", directory.file("a.sqlite"), "--listen", "127.0.0.1:0")
        let daemonB = try await ServerProcess.start(
            "syncd", "run", directory.file("b.sqlite"), "--listen", "127.0.0.1:0", "--peer", daemonA.url)
        var token: String?
        for round in 0..<20 {
            let (writer, reader) = round.isMultiple(of: 2) ? (a, b) : (b, a)
            let made = try await writer.send(.POST, "/todos", json: #"{"title": "Round \#(round)"}"#, token: token)
            #expect(made.status == 201)
            let written: String = try #require(made.headers.first(name: "Tandem-Token"))
            token = written
            let seen = try await reader.send(.GET, "/todos", token: token)
            #expect(seen.status == 200 && seen.headers.first(name: "Tandem-Token") == nil)
            let titles = try seen.json([TodoAnswer].self).map(\.title)
            #expect(titles.count == round + 1 && titles.contains("Round \(round)"), "round \(round): \(titles)")
        }
        for process in [serviceA, serviceB, daemonA, daemonB] { #expect(await process.stop() == 0) }
    }

    @Test("a change that is on no way to the other instance is an error there, and no old answer")
    func apart() async throws {
        let (serviceA, a) = try await instance("a.sqlite")
        let (serviceB, b) = try await instance("b.sqlite")
        let made = try await a.send(.POST, "/todos", json: #"{"title": "Far away"}"#)
        let token = try #require(made.headers.first(name: "Tandem-Token"))
        let late = try await b.send(.GET, "/todos", token: token)
        #expect(late.status == 503)
        #expect(try late.json(ErrorAnswer.self).error.code == "timed_out")
        let wrong = try await b.send(.GET, "/todos", token: "nonsense")
        #expect(wrong.status == 400)
        #expect(try wrong.json(ErrorAnswer.self).error.code == "invalid")
        for process in [serviceA, serviceB] { #expect(await process.stop() == 0) }
    }
}
