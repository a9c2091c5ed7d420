import Hummingbird
import Logging
import Store

/// An error as the API reports it: `{"error": {"code", "message", "hint"}}`.
struct ErrorReply: Error {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var hint: String?

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String, hint: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
    }

    static let noSuchTodo = ErrorReply(.notFound, "not_found", "there is no such todo")

    /// Converts a failure of the database to a reply. Only errors that the client itself can correct are
    /// described in detail.
    init(_ error: StoreError) {
        switch error.code {
        case .check:
            self.init(.unprocessableContent, error.code.rawValue, "a title has 1 to 500 characters")
        case .deleted: self = .noSuchTodo
        case .timedOut:
            self.init(
                .serviceUnavailable, "timed_out", "your last change has not arrived at this instance",
                hint: "Try again.")
        case .busy: self.init(.serviceUnavailable, "busy", "another process holds the file", hint: "Try again.")
        default: self.init(.internalServerError, "failed", "the service cannot answer now")
        }
    }

    func response() throws -> Response {
        struct Body: Encodable {
            struct Detail: Encodable {
                let code: String
                let message: String
                let hint: String?
            }
            let error: Detail
        }
        return try JSONReply.make(
            Body(error: Body.Detail(code: code, message: message, hint: hint)), status: status)
    }
}

/// Answers every error as JSON.
struct ErrorReplies: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as ErrorReply {
            return try error.response()
        } catch let error as StoreError {
            context.logger.warning("request failed", metadata: ["error": "\(error)"])
            return try ErrorReply(error).response()
        } catch let error as HTTPError {
            let message = error.body ?? error.status.reasonPhrase
            return try ErrorReply(error.status, error.status == .notFound ? "not_found" : "invalid", message).response()
        }
    }
}
