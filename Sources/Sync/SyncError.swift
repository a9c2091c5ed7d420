/// What went wrong between two replicas, for a person and for a program.
///
/// Tokens, row values and user info of URLs never stand in a message: messages reach logs and peers. Names
/// that a peer chose may; so control characters are taken out, which could forge a line of a log, and what is
/// too long is shortened.
public struct SyncError: Error, Sendable, Hashable {
    /// What a program decides by, and what travels as `code` in an error body.
    public struct Code: Sendable, Hashable {
        /// What travels: lower-case words with underscores.
        public let name: String

        /// The HTTP status of an answer with this code.
        public let httpStatus: Int

        /// True when the same request may succeed later without anyone's help.
        public let isRetryable: Bool

        private init(_ name: String, status: Int, retryable: Bool = false) {
            self.name = name
            self.httpStatus = status
            self.isRetryable = retryable
        }

        /// A message that breaks the protocol.
        public static let invalid = Code("invalid", status: 400)
        /// A message whose wire or format version is not spoken here.
        public static let unsupportedVersion = Code("unsupported_version", status: 400)
        /// No token, or a wrong one.
        public static let unauthorized = Code("unauthorized", status: 401)
        /// A known client that may not do this.
        public static let forbidden = Code("forbidden", status: 403)
        /// No such route, or no such table.
        public static let notFound = Code("not_found", status: 404)
        /// The peer belongs to another cluster.
        public static let otherCluster = Code("other_cluster", status: 409)
        /// The peer is this very replica, or a copy of its file.
        public static let selfPeer = Code("self_peer", status: 409)
        /// A batch begins after the version that would come next; nothing of it was applied.
        public static let gap = Code("gap", status: 409, retryable: true)
        /// A stamp lies too far ahead of the local clock; nothing of its batch was applied.
        public static let clockSkew = Code("clock_skew", status: 409, retryable: true)
        /// One version of one origin with two contents: a restored or copied file.
        public static let fork = Code("fork", status: 409)
        /// Beyond one of ``Limits``.
        public static let tooLarge = Code("too_large", status: 413)
        /// Too many requests at a time.
        public static let tooManyRequests = Code("too_many_requests", status: 429, retryable: true)
        /// The replica's own failure.
        public static let failed = Code("failed", status: 500, retryable: true)
        /// The file is locked, or the peer is shutting down or overloaded.
        public static let busy = Code("busy", status: 503, retryable: true)
        /// The file cannot be written: no space, read-only, or an input/output error.
        public static let storage = Code("storage", status: 507, retryable: true)

        /// No connection: name, route, port or a broken transfer.
        public static let unreachable = Code("unreachable", status: 502, retryable: true)
        /// No answer, or not fast enough.
        public static let timedOut = Code("timed_out", status: 504, retryable: true)
        /// No trusted connection: certificate, name or protocol.
        public static let tls = Code("tls", status: 502, retryable: true)
        /// The answer is not one of a Tandem peer.
        public static let notAPeer = Code("not_a_peer", status: 502, retryable: true)
        /// The answer ended before its end.
        public static let truncated = Code("truncated", status: 502, retryable: true)
        /// The address or the options of a peer cannot be used.
        public static let configuration = Code("configuration", status: 400)
        /// Stopped from here.
        public static let cancelled = Code("cancelled", status: 503, retryable: true)

        static let all: [Code] = [
            .invalid, .unsupportedVersion, .unauthorized, .forbidden, .notFound, .otherCluster, .selfPeer, .gap,
            .clockSkew, .fork, .tooLarge, .tooManyRequests, .failed, .busy, .storage, .unreachable, .timedOut, .tls,
            .notAPeer, .truncated, .configuration, .cancelled,
        ]

        /// The code of that name; nil for one that this version does not know.
        public init?(name: String) {
            guard let known = Code.all.first(where: { $0.name == name }) else { return nil }
            self = known
        }
    }

    /// What a program decides by.
    public let code: Code

    /// One sentence without a full stop: what was tried, and why it failed.
    public let message: String

    /// What to do about it; nil when nothing general can be said.
    public let hint: String?

    /// The delay in seconds that a peer asked for, already within ``Limits/retryAfterSeconds``.
    public let retryAfterSeconds: Int64?

    /// - Parameters:
    ///   - code: What a program decides by.
    ///   - message: One sentence without a full stop. Control characters are taken out, and so is what lies
    ///     beyond 2 000 characters; the same holds for `hint`.
    ///   - hint: What to do about it.
    ///   - retryAfterSeconds: The delay that a peer asked for, within ``Limits/retryAfterSeconds``.
    public init(_ code: Code, _ message: String, hint: String? = nil, retryAfterSeconds: Int64? = nil) {
        self.code = code
        self.message = SyncError.printable(message)
        self.hint = hint.map { SyncError.printable($0) }
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// `text` on one line, for a log or a terminal.
    ///
    /// - Parameter limit: The most Unicode scalars to keep.
    static func printable(_ text: String, limit: Int = 2_000) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: break
            default: kept.append(scalar)
            }
        }
        return String(kept)
    }

    /// As in ``Code/isRetryable``.
    public var isRetryable: Bool { code.isRetryable }
    /// As in ``Code/httpStatus``.
    public var httpStatus: Int { code.httpStatus }
}

extension SyncError: CustomStringConvertible {
    public var description: String {
        hint.map { "\(message). \($0)" } ?? message
    }
}

extension SyncError.Code: CustomStringConvertible {
    public var description: String { name }
}
