import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import Journal
import Logging
import NIOCore
import NIOHTTP1
import Sync

/// An error answer: `{"error": {"code", "message", "hint"}}`.
struct Refusal: Error, Sendable, Hashable {
    let status: Int
    let code: String
    let message: String
    let hint: String?
    var retryAfterSeconds: Int64?

    init(status: Int, code: String, _ message: String, hint: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
    }

    init(_ error: SyncError) {
        // A truncated stream is the sender's failure to deliver. In a request the client is the sender, so it
        // gets a 4xx.
        let status = error.code == .truncated ? 400 : error.httpStatus
        self.init(status: status, code: error.code.name, error.message, hint: error.hint)
        retryAfterSeconds = error.retryAfterSeconds
    }

    /// Describes any error to the client; nil for a request that cannot be parsed, which Hummingbird answers
    /// with 400 and a closed connection.
    ///
    /// An internal failure is logged, and the client learns only that there was one.
    init?(_ error: any Error, logger: Logger) {
        switch error {
        case is HTTPParserError: return nil
        case let refusal as Refusal: self = refusal
        case let error as SyncError:
            if error.httpStatus >= 500 { logger.log(.requestFailed, "request failed", ["error": "\(error)"]) }
            self.init(error)
        case is JournalError, is DatabaseError:
            // Log neither the SQL nor its arguments: they hold names and values.
            let known = SyncError(wrapping: error)
            let hint = (error as? JournalError)?.hint ?? known.code.advice ?? known.hint
            logger.log(
                .requestFailed, "request failed",
                ["error": "\([known.message, hint].compactMap(\.self).joined(separator: ". "))"])
            self.init(SyncError(known.code == .busy ? .busy : .failed, "the replica cannot answer now"))
        case is CancellationError: self.init(SyncError(.busy, "The daemon is stopping", retryAfterSeconds: 1))
        case is IOError:
            // The client hung up, so nobody receives the answer. That is not an error of this side.
            logger.log(.clientGone, "client hung up")
            self.init(SyncError(.truncated, "The request ended before its end"))
        default:
            logger.log(.requestBroken, "request failed", ["error": "\(type(of: error))"])
            self.init(SyncError(.failed, "The replica cannot answer now"))
        }
    }

    private var json: String {
        var members: [JSONValue.Member] = [
            .init(name: "code", value: .string(code)), .init(name: "message", value: .string(message)),
        ]
        if let hint { members.append(.init(name: "hint", value: .string(hint))) }
        return JSONValue.object(["error": .object(members)]).text
    }

    var response: Response {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        if let retryAfterSeconds { headers[.retryAfter] = String(retryAfterSeconds) }
        if status == 401 { headers[.wwwAuthenticate] = "Bearer, Basic realm=\"syncd\"" }
        return Response(
            status: .init(code: status), headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: json)))
    }

    /// The same in an answer that had begun as that to a push.
    var late: PushReply.Refusal {
        PushReply.Refusal(status: status, body: Array(json.utf8), retryAfterSeconds: retryAfterSeconds)
    }
}
