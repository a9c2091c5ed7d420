import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("The example service", .timeLimit(.minutes(2)))
struct ServiceTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("todos.sqlite") }

    private func start() async throws -> (service: ServerProcess, client: ServiceClient) {
        let service = try await ServerProcess.start("todo-service", path, "--port", "0")
        return (service, ServiceClient(port: service.port))
    }

    @Test("it lists, creates, changes and deletes todos, and keeps the list over a restart")
    func api() async throws {
        var (service, client) = try await start()
        #expect(try await client.send(.GET, "/todos").json([TodoAnswer].self).isEmpty)
        let made = try await client.send(.POST, "/todos", json: #"{"title": "Buy milk"}"#)
        #expect(made.status == 201)
        let milk = try made.json(TodoAnswer.self)
        #expect(milk.title == "Buy milk" && !milk.done)
        let changed = try await client.send(.PATCH, "/todos/\(milk.id)", json: #"{"done": true}"#)
        #expect(changed.status == 200)
        #expect(try changed.json(TodoAnswer.self).done)
        #expect(await service.stop() == 0)

        (service, client) = try await start()
        #expect(try await client.send(.GET, "/todos").json([TodoAnswer].self) == [changed.json(TodoAnswer.self)])
        #expect(try await client.send(.DELETE, "/todos/\(milk.id)").status == 204)
        #expect(try await client.send(.DELETE, "/todos/\(milk.id)").status == 404)
        #expect(try await client.send(.GET, "/todos").json([TodoAnswer].self).isEmpty)
        #expect(await service.stop() == 0)
    }

    @Test("bad input gets a status, a code and a sentence, and changes nothing")
    func refusals() async throws {
        let (service, client) = try await start()
        let long = String(repeating: "x", count: 501)
        let id = "00000000-0000-7000-8000-000000000000"
        let refused: [(Int, String, ServiceClient.Answer)] = [
            (422, "check", try await client.send(.POST, "/todos", json: "{}")),
            (422, "check", try await client.send(.POST, "/todos", json: #"{"title": "\#(long)"}"#)),
            (400, "invalid", try await client.send(.POST, "/todos", json: #"{"title": 1}"#)),
            (400, "invalid", try await client.send(.POST, "/todos", json: "{")),
            (415, "unsupported_type", try await client.send(.POST, "/todos", json: "title=x", type: "text/plain")),
            (404, "not_found", try await client.send(.PATCH, "/todos/\(id)", json: #"{"done": true}"#)),
            (404, "not_found", try await client.send(.DELETE, "/todos/nonsense")),
            (404, "not_found", try await client.send(.GET, "/nothing")),
        ]
        for (status, code, answer) in refused {
            #expect(answer.status == status)
            #expect(try answer.json(ErrorAnswer.self).error.code == code)
        }
        #expect(try await client.send(.GET, "/todos").json([TodoAnswer].self).isEmpty)
        #expect(await service.stop() == 0)
    }

    @Test("the page loads nothing from other servers, and runs only its own script")
    func page() async throws {
        let (service, client) = try await start()
        for (path, type) in [("/", "text/html"), ("/todos.css", "text/css"), ("/todos.js", "text/javascript")] {
            let answer = try await client.send(.GET, path)
            #expect(answer.status == 200)
            #expect(answer.headers.first(name: "Content-Type") == "\(type); charset=utf-8")
            #expect(answer.headers.first(name: "Content-Security-Policy")?.contains("default-src 'none'") == true)
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("://"))
        }
        #expect(await service.stop() == 0)
    }

    @Test("the feed starts with the list, follows the API and other programs, and ends with the service")
    func feed() async throws {
        let (service, client) = try await start()
        _ = try await client.send(.POST, "/todos", json: #"{"title": "First"}"#)
        try await client.withEvents { events in
            #expect(try await events.next()?.todos.map(\.title) == ["First"])
            let second = try await client.send(.POST, "/todos", json: #"{"title": "Second"}"#).json(TodoAnswer.self)
            #expect(try await events.next() == .change(origin: "local", todos: [second], deleted: []))
            let outside = try RawConnection(path: path)
            try outside.run("UPDATE todo SET done = 1")
            let ticked = try #require(try await events.next())
            #expect(!ticked.isRemote && ticked.todos.count == 2 && ticked.todos.allSatisfy(\.done))
            _ = try await client.send(.DELETE, "/todos/\(second.id)")
            #expect(try await events.next() == .change(origin: "local", todos: [], deleted: [second.id]))
            // An open feed does not delay the service's end.
            #expect(await service.stop() == 0)
            #expect(try await events.next() == nil)
        }
    }
}
