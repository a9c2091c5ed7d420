import Foundation
import HTTPTypes
import Sync
import Synchronization

/// A reader who has signed in.
struct Session: Sendable, Hashable {
    /// The random part of the cookie.
    let id: String
    /// What the token with which the reader has signed in may do at this moment.
    let scopes: Set<TokenScope>
    /// What each form of the session has to send along.
    let csrf: String
    /// When the session ends, in seconds since 1970.
    let end: Int64
}

/// The sessions of browsers. A session is a signed cookie; the daemon keeps only those that were ended before
/// their time.
///
/// The cookie does not have the token, and ends with it: when the token is no longer accepted, so is the
/// session. The signing key is random, so that all sessions end with the daemon.
final class Sessions: Sendable {
    /// Seconds for which a session lasts.
    static let duration: Int64 = 12 * 3_600

    private let cookie: String
    private let isSecure: Bool
    private let key: [UInt8]
    private let tokens: @Sendable () -> AccessTokens
    private let now: @Sendable () -> Int64
    /// The sessions that were ended, with their time.
    private let ended = Mutex<[String: Int64]>([:])

    /// - Parameters:
    ///   - name: Of the replica. Cookies do not distinguish ports, and a machine may have several daemons.
    ///   - isSecure: True for a listener with TLS: the cookie then never travels without.
    ///   - key: 32 random bytes.
    ///   - now: Returns the seconds since 1970.
    init(
        name: String, isSecure: Bool, key: [UInt8] = (0..<32).map { _ in UInt8.random(in: .min ... .max) },
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) },
        tokens: @escaping @Sendable () -> AccessTokens
    ) {
        cookie = "syncd-\(name)"
        self.isSecure = isSecure
        self.key = key
        self.now = now
        self.tokens = tokens
    }

    /// Begins a session.
    ///
    /// - Returns: The header line that sets its cookie, and what the token may do; nil for a token that is
    ///   not accepted.
    func begin(token: String) -> (cookie: String, scopes: Set<TokenScope>)? {
        guard let entry = tokens().entry(of: token) else { return nil }
        let id = Sessions.hex((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        let payload = "\(now() + Sessions.duration).\(id).\(fingerprint(of: entry))"
        return (header("\(payload).\(signature(payload))", seconds: Sessions.duration), entry.scopes)
    }

    /// Ends a session before its time.
    ///
    /// - Returns: The header line that removes its cookie.
    func end(_ session: Session?) -> String {
        if let session {
            let time = now()
            ended.withLock { ended in
                ended = ended.filter { $0.value > time }
                ended[session.id] = session.end
            }
        }
        return header("", seconds: 0)
    }

    /// Returns the session of a request; nil without one, and for one that has ended.
    func session(of headers: HTTPFields) -> Session? {
        let values = headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { part in
            let sides = part.split(separator: "=", maxSplits: 1)
            return sides.count == 2 && sides[0].drop { $0 == " " } == cookie ? String(sides[1]) : nil
        }
        // With two cookies of one name, one was set by somebody else.
        guard values.count == 1 else { return nil }
        return session(cookie: values[0])
    }

    private func session(cookie value: String) -> Session? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let end = Int64(parts[0]) else { return nil }
        let payload = parts[..<3].joined(separator: ".")
        guard SHA256.areEqual(Array(signature(payload).utf8), Array(parts[3].utf8)), end > now(),
            ended.withLock({ $0[parts[1]] == nil }),
            let entry = tokens().entries.first(where: { $0.signsIn && fingerprint(of: $0) == parts[2] })
        else { return nil }
        return Session(id: parts[1], scopes: entry.scopes, csrf: signature("form.\(payload)"), end: end)
    }

    /// True for what ``Session/csrf`` of this session is.
    static func accepts(_ csrf: String?, of session: Session) -> Bool {
        csrf.map { SHA256.areEqual(Array($0.utf8), Array(session.csrf.utf8)) } ?? false
    }

    private func header(_ value: String, seconds: Int64) -> String {
        "\(cookie)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    private func fingerprint(of entry: AccessTokens.Entry) -> String {
        signature("token.\(Sessions.hex(entry.digest ?? []))")
    }

    private func signature(_ text: String) -> String {
        Sessions.hex(SHA256.authenticator(of: Array(text.utf8), key: key))
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension SHA256 {
    /// HMAC of RFC 2104.
    ///
    /// - Parameter key: At most 64 bytes.
    static func authenticator(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let block = key.prefix(64) + [UInt8](repeating: 0, count: max(0, 64 - key.count))
        let inner = digest(of: block.map { $0 ^ 0x36 } + message)
        return digest(of: block.map { $0 ^ 0x5C } + inner)
    }
}
