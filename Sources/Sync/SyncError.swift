/// An error of an exchange between two replicas, for people and for programs.
///
/// Messages reach logs and peers, so tokens, row values and user info of URLs are never part of them. Names
/// that a peer chose may be. Control characters, which could forge a line of a log, are therefore removed,
/// and long texts are shortened.
public struct SyncError: Error, Sendable, Hashable {
    /// The kind of an error, for programs. It travels as `code` in an error body.
    public struct Code: Sendable, Hashable {
        /// The name that travels: lower-case words with underscores.
        public let name: String

        /// The HTTP status of an answer with this code.
        public let httpStatus: Int

        /// True when the same request may succeed later without intervention.
        public let isRetryable: Bool

        private init(_ name: String, status: Int, retryable: Bool = false) {
            self.name = name
            self.httpStatus = status
            self.isRetryable = retryable
        }

        /// A message that breaks the protocol.
        public static let invalid = Code("invalid", status: 400)
        /// A message whose wire or format version this program does not support.
        public static let unsupportedVersion = Code("unsupported_version", status: 400)
        /// No token, or a wrong one.
        public static let unauthorized = Code("unauthorized", status: 401)
        /// A known client without permission for the request.
        public static let forbidden = Code("forbidden", status: 403)
        /// No such route, or no such table.
        public static let notFound = Code("not_found", status: 404)
        /// The peer belongs to another cluster.
        public static let otherCluster = Code("other_cluster", status: 409)
        /// The peer is this very replica, or a copy of its file.
        public static let selfPeer = Code("self_peer", status: 409)
        /// A batch begins after the version that would come next; nothing of it was applied.
        public static let gap = Code("gap", status: 409, retryable: true)
        /// Changes were not taken, because stamps lie too far ahead of the receiver's clock.
        public static let clockSkew = Code("clock_skew", status: 409, retryable: true)
        /// Two histories of one origin: a file was restored or copied.
        public static let fork = Code("fork", status: 409)
        /// The caller lacks changes that are compacted here: it was away for too long, or is new.
        public static let behindHorizon = Code("behind_horizon", status: 410)
        /// The message exceeds one of ``Limits``.
        public static let tooLarge = Code("too_large", status: 413)
        /// Too many requests at the same time.
        public static let tooManyRequests = Code("too_many_requests", status: 429, retryable: true)
        /// A failure of the replica itself.
        public static let failed = Code("failed", status: 500, retryable: true)
        /// The file is locked, or the peer is shutting down or overloaded.
        public static let busy = Code("busy", status: 503, retryable: true)
        /// The file cannot be written: no space, read-only, or an input/output error.
        public static let storage = Code("storage", status: 507, retryable: true)

        /// No connection: the name, the route or the port is wrong, or the transfer broke.
        public static let unreachable = Code("unreachable", status: 502, retryable: true)
        /// No answer, or one that is too slow.
        public static let timedOut = Code("timed_out", status: 504, retryable: true)
        /// No trusted connection: certificate, name or protocol.
        public static let tls = Code("tls", status: 502, retryable: true)
        /// The answer is not one of a Tandem peer.
        public static let notAPeer = Code("not_a_peer", status: 502, retryable: true)
        /// The message was cut off, or damaged on the way.
        public static let truncated = Code("truncated", status: 502, retryable: true)
        /// The address or the options of a peer cannot be used.
        public static let configuration = Code("configuration", status: 400)
        /// The exchange was cancelled on this side.
        public static let cancelled = Code("cancelled", status: 503, retryable: true)

        static let all: [Code] = [
            .invalid, .unsupportedVersion, .unauthorized, .forbidden, .notFound, .otherCluster, .selfPeer, .gap,
            .clockSkew, .fork, .behindHorizon, .tooLarge, .tooManyRequests, .failed, .busy, .storage, .unreachable,
            .timedOut, .tls,
            .notAPeer, .truncated, .configuration, .cancelled,
        ]

        /// The code with that name; nil for one that this version does not know.
        public init?(name: String) {
            guard let known = Code.all.first(where: { $0.name == name }) else { return nil }
            self = known
        }
    }

    /// The kind of the error, for programs.
    public let code: Code

    /// One sentence without a full stop: what was tried, and why it failed.
    public let message: String

    /// What to do about it; nil when there is no general advice.
    public let hint: String?

    /// The delay in seconds that a peer asked for, already within ``Limits/retryAfterSeconds``.
    public let retryAfterSeconds: Int64?

    /// - Parameters:
    ///   - code: The kind of the error, for programs.
    ///   - message: One sentence without a full stop. Control characters are removed, and so is everything
    ///     beyond 2000 Unicode scalars; the same holds for `hint`.
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
