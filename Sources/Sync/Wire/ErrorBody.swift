import Foundation

/// The JSON body of an answer that is an error: `{"error":{"code":"…","message":"…","hint":"…"}}`.
extension SyncError {
    private struct Envelope: Codable {
        struct Body: Codable {
            var code: String
            var message: String
            var hint: String?
        }

        var error: Body
    }

    /// The bytes of the JSON body.
    public func jsonBody() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = Envelope(error: .init(code: code.name, message: message, hint: hint))
        // Encoding strings cannot fail.
        return (try? encoder.encode(body)).map { [UInt8]($0) } ?? Array(#"{"error":{"code":"failed"}}"#.utf8)
    }

    /// Reads an error body. The text of the peer is shortened, and control characters are removed.
    ///
    /// - Returns: nil when `bytes` are not such a body.
    public static func decodingJSONBody(
        _ bytes: [UInt8], limits: Limits
    ) -> (code: Code?, message: String, hint: String?)? {
        guard bytes.count <= limits.errorBodyBytes,
            let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(bytes))
        else { return nil }
        return (Code(name: envelope.error.code), clean(envelope.error.message), envelope.error.hint.map(clean))
    }

    /// Creates the error for an HTTP answer of a peer that is not a success.
    ///
    /// - Parameters:
    ///   - status: The HTTP status of the answer.
    ///   - body: The body of the answer.
    ///   - peer: The peer's name in the message; without user info.
    ///   - retryAfter: The value of the `Retry-After` header.
    ///   - limits: The limits, of which the size of an error body counts.
    public init(httpStatus status: Int, body: [UInt8], peer: String, retryAfter: String?, limits: Limits) {
        let delay = SyncError.retryAfterSeconds(retryAfter, limits: limits)
        if let said = SyncError.decodingJSONBody(body, limits: limits) {
            self.init(
                said.code ?? SyncError.code(of: status), "\(peer) answered \(status): \(said.message)",
                hint: said.hint ?? SyncError.hint(of: status), retryAfterSeconds: delay)
        } else {
            self.init(
                SyncError.code(of: status), "\(peer) answered \(status)", hint: SyncError.hint(of: status),
                retryAfterSeconds: delay)
        }
    }

    /// The delay of a `Retry-After` header (RFC 9110, section 10.2.3) in seconds, from 1 to the limit.
    ///
    /// - Returns: nil for an absent header, and for a date, because it may follow any clock.
    static func retryAfterSeconds(_ header: String?, limits: Limits) -> Int64? {
        guard let header else { return nil }
        let digits = header.utf8.drop { $0 == 0x20 }.prefix { $0 != 0x20 }
        guard !digits.isEmpty, digits.count <= 20, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        // A number beyond Int64 exceeds the limit anyway.
        let seconds = Int64(String(decoding: digits, as: UTF8.self)) ?? .max
        return min(max(seconds, 1), limits.retryAfterSeconds)
    }

    private static func code(of status: Int) -> Code {
        switch status {
        case 401: .unauthorized
        case 403: .forbidden
        case 408, 504: .timedOut
        case 413: .tooLarge
        case 429: .tooManyRequests
        case 502, 503: .busy
        case 500...599: .failed
        default: .notAPeer
        }
    }

    private static func hint(of status: Int) -> String? {
        switch status {
        case 300...399: "Redirects are not followed; give the peer's final address."
        case 401: "Give the token of that peer with --token-file."
        case 403: "The peer knows the token, but does not allow it this request."
        case 404, 405: "Is this the address of a syncd, without a path?"
        case 413: "Lower the sizes in Limits of the sender, or raise those of the receiver."
        default: nil
        }
    }

    private static func clean(_ text: String) -> String { printable(text, limit: 1_000) }
}
