import HTTPTypes
import Hummingbird
import Store

/// Lets a client see its own writes behind several instances of the service, each with a replica of its own.
///
/// The answer to a write has a token in the header `Tandem-Token`. A client that sends the header back, with
/// any later request to any instance, gets an answer that contains the write. The client keeps only the last
/// token of each instance; a token of another one does not cover it.
struct ReadYourWrites: RouterMiddleware {
    let list: TodoList

    static let header = HTTPField.Name("Tandem-Token")
    /// Replicas are apart for milliseconds. When they are apart for longer, an error is better than a hang.
    static let patience: Duration = .seconds(5)

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let header = ReadYourWrites.header else { return try await next(request, context) }
        for text in request.headers[values: header] {
            guard let token = WriteToken(text) else {
                throw ErrorReply(
                    .badRequest, "invalid", "the Tandem-Token is not one of this service",
                    hint: "Send it as it came, or leave it out.")
            }
            try await list.database.wait(for: token, timeout: ReadYourWrites.patience)
        }
        var response = try await next(request, context)
        if request.method != .get, response.status.kind == .successful {
            response.headers[header] = try await list.token().description
        }
        return response
    }
}
