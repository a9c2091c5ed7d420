import Foundation
import Hummingbird
import ServiceLifecycle
import Store

/// The live view's feed: `text/event-stream`
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
///
/// It starts with one event `list` that contains all todos, and continues with one event `change` for each
/// commit: by this service, by another program on the same file, or by another machine, whose changes `syncd`
/// delivers.
struct LiveEvents: Sendable {
    let list: TodoList

    /// The data of an event `change`.
    struct Change: Encodable {
        /// "local", or the short id of the replica that made the change.
        let origin: String
        /// The inserted and changed todos, with their current values.
        let todos: [Todo.Fields]
        let deleted: [UUID]
    }

    func reply(to request: Request) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                do {
                    // This also ends the feed when the client disconnects, which would otherwise be noticed
                    // only at the next change.
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        try await feed { try await writer.write(ByteBuffer(bytes: $0)) }
                    }
                } catch is CancellationError {
                    return
                }
                try await writer.finish(nil)
            })
    }

    private func feed(_ send: (Data) async throws -> Void) async throws {
        // The sequence starts before the list is read, so that no commit falls between the two.
        let changes = Todo.changes(in: list.database).cancelOnGracefulShutdown()
        try await send(event("list", try await list.all()))
        for try await change in changes {
            if change.isComplete {
                try await send(event("change", try await describe(change)))
            } else {
                // Changes are missing because the client was too slow, so send the whole list again.
                try await send(event("list", try await list.all()))
            }
        }
    }

    private func describe(_ change: ModelChange<Todo>) async throws -> Change {
        let origin =
            switch change.origin {
            case .local: "local"
            case .remote(let replica): replica.short
            }
        // A row that was deleted after this commit is not found here; its deletion is a later event.
        return Change(
            origin: origin, todos: try await list.find(change.inserted + change.updated), deleted: change.deleted)
    }

    private func event(_ name: String, _ value: some Encodable) throws -> Data {
        Data("event: \(name)\ndata: ".utf8) + (try JSONReply.encode(value)) + Data("\n\n".utf8)
    }
}
