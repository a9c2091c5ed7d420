import Foundation
import Journal
import Sync

/// The body of `POST /v1/wait`.
struct WaitRequest: Sendable, Hashable, Codable {
    static let path = "/v1/wait"
    /// The longest wait of one request, in seconds.
    static let mostSeconds = Limits.standard.longPollSeconds

    var token: String
    /// nil waits as long as one request may; 0 only looks.
    var seconds: Int?

    /// Reads a body.
    ///
    /// - Returns: What to wait for, and for how many seconds, 0 to ``mostSeconds``.
    /// - Throws: ``Refusal`` 400.
    static func decode(_ body: [UInt8]) throws -> (token: WriteToken, seconds: Int) {
        guard let request = try? JSONDecoder().decode(WaitRequest.self, from: Data(body)),
            request.seconds.map({ $0 >= 0 }) ?? true
        else {
            throw Refusal(
                status: 400, code: "invalid", "the body does not say what to wait for",
                hint: #"It is {"token": "…", "seconds": 10}"#)
        }
        guard let token = WriteToken(request.token) else {
            throw Refusal(
                status: 400, code: "invalid", "this is not the token of a write",
                hint: "`syncd status` prints one, and each write through Store can give one")
        }
        return (token, min(request.seconds ?? mostSeconds, mostSeconds))
    }
}

/// The answer of `POST /v1/wait` and of `syncd wait --json`.
struct WaitAnswer: Sendable, Hashable {
    let token: WriteToken
    let isReached: Bool

    struct Body: Decodable {
        let reached: Bool
    }

    var json: JSONValue {
        .object(["token": .string(token.description), "reached": .bool(isReached)])
    }
}
