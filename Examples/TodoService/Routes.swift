import Foundation
import Hummingbird

/// The routes: a page, its live events, and a small JSON API.
///
/// | request | does |
/// |---|---|
/// | `GET /todos` | all todos, oldest first |
/// | `POST /todos` `{"title": "…"}` | creates a todo: 201 |
/// | `PATCH /todos/ID` `{"title": "…", "done": true}` | changes the given properties |
/// | `DELETE /todos/ID` | deletes the todo: 204 |
/// | `GET /events` | server-sent events, see ``LiveEvents`` |
/// | `GET /` | the page |
///
/// Answers to writes have a token, which other instances wait for: see ``ReadYourWrites``.
struct Routes {
    let list: TodoList

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.middlewares.add(ErrorReplies())
        router.middlewares.add(ReadYourWrites(list: list))
        router.get("/") { _, _ in Page.reply(Page.html, type: "text/html") }
        router.get("todos.css") { _, _ in Page.reply(Page.css, type: "text/css") }
        router.get("todos.js") { _, _ in Page.reply(Page.script, type: "text/javascript") }
        router.get("events") { [list] request, _ in LiveEvents(list: list).reply(to: request) }

        router.get("todos") { [list] _, _ in try JSONReply.make(try await list.all()) }
        router.post("todos") { [list] request, context in
            let todo = try await list.create(try await Routes.edit(request, context))
            return try JSONReply.make(todo, status: .created)
        }
        router.patch("todos/:id") { [list] request, context in
            let id = try Routes.id(context)
            guard let todo = try await list.change(id, try await Routes.edit(request, context)) else {
                throw ErrorReply.noSuchTodo
            }
            return try JSONReply.make(todo)
        }
        router.delete("todos/:id") { [list] _, context in
            guard try await list.delete(try Routes.id(context)) else { throw ErrorReply.noSuchTodo }
            return Response(status: .noContent)
        }
        return router
    }

    private static func id(_ context: BasicRequestContext) throws -> UUID {
        guard let id = UUID(uuidString: try context.parameters.require("id")) else { throw ErrorReply.noSuchTodo }
        return id
    }

    private static func edit(_ request: Request, _ context: BasicRequestContext) async throws -> TodoEdit {
        // A page of another site can make a browser send a form, but not JSON: this check prevents cross-site
        // request forgery.
        guard request.headers[.contentType]?.hasPrefix("application/json") == true else {
            throw ErrorReply(.unsupportedMediaType, "unsupported_type", "the Content-Type must be application/json")
        }
        return try await request.decode(as: TodoEdit.self, context: context)
    }
}

/// Encodes JSON replies: dates in ISO 8601, keys in a fixed order.
enum JSONReply {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    static func make(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encode(value))))
    }
}
