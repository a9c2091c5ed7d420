import Journal
import Sync
import TestSupport

/// The server of a daemon or of a hub: it does what a listener does for each request, over the production endpoint.
struct Server: Sendable {
    let endpoint: any WireService
    let snapshots: any SnapshotSource
    let executor: ProcessExecutor

    /// - Returns: The task, on the executor of the machine.
    func start(_ exchange: Exchange, _ sender: AnswerSender) -> Task<Void, Never> {
        Task(executorPreference: executor) {
            await PreferredExecutor.$current.withValue(executor) { await answer(exchange, sender) }
        }
    }

    private func answer(_ exchange: Exchange, _ sender: AnswerSender) async {
        do {
            switch exchange.path {
            case WireHTTP.helloPath:
                respond(try await endpoint.hello(body: try await body(of: exchange)), sender)
            case WireHTTP.digestPath:
                respond(try await endpoint.digest(body: try await body(of: exchange)), sender)
            case WireHTTP.pullPath:
                let request = try await endpoint.pullRequest(body: try await body(of: exchange))
                sender.head(200)
                try await endpoint.pull(request) { try sender.write($0) }
                sender.finish()
            case WireHTTP.pushPath:
                var receiver = endpoint.beginPush()
                for try await piece in exchange.request { try await receiver.receive(piece) }
                try Task.checkCancellation()
                respond(try await receiver.finish().encoded(), sender)
            case WireHTTP.snapshotPath:
                respond(try await snapshots.snapshot().jsonBody(), sender)
            case WireHTTP.snapshotPartPath:
                let part = try PartRequest(body: try await body(of: exchange))
                respond(try await snapshots.part(part.index, of: part.id, size: part.size), sender)
            default:
                throw SyncError(.notFound, "no such route")
            }
        } catch {
            let error = SyncError(wrapping: error)
            sender.failed(error)
            guard !sender.hasBegun else { return sender.abort() }
            sender.head(error.httpStatus)
            try? sender.write(error.jsonBody())
            sender.finish()
        }
    }

    private func respond(_ bytes: [UInt8], _ sender: AnswerSender) {
        sender.head(200)
        // A caller that has disconnected needs no answer.
        try? sender.write(bytes)
        sender.finish()
    }

    private func body(of exchange: Exchange) async throws -> [UInt8] {
        var body: [UInt8] = []
        for try await piece in exchange.request { body += piece }
        try Task.checkCancellation()
        return body
    }
}

/// A request for a part of a snapshot, as the body of a simulated message.
struct PartRequest {
    let id: String
    let index: Int
    let size: Int

    init(id: String, index: Int, size: Int) {
        self.id = id
        self.index = index
        self.size = size
    }

    init(body: [UInt8]) throws {
        let words = String(decoding: body, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let index = Int(words[1]), let size = Int(words[2]) else {
            throw SyncError(.notFound, "no such part")
        }
        (id, self.index, self.size) = (String(words[0]), index, size)
    }

    var body: [UInt8] { Array("\(id) \(index) \(size)".utf8) }
}
