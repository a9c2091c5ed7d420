/// Why bytes from a peer were refused. Nothing of a refused message is used.
public struct WireError: Error, Sendable, Hashable {
    /// The kinds of failures, for programs.
    public struct Code: Sendable, Hashable {
        /// The name of the code: lower-case words with underscores.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// The bytes break the format or contradict themselves.
        public static let malformed = Code("malformed")
        /// The bytes end before the message does.
        public static let truncated = Code("truncated")
        /// The checksum does not match the bytes.
        public static let checksum = Code("checksum")
        /// The message exceeds one of ``Limits``.
        public static let tooLarge = Code("too_large")
        /// A wire version that this program does not support.
        public static let unsupportedVersion = Code("unsupported_version")

        static let all: [Code] = [.malformed, .truncated, .checksum, .tooLarge, .unsupportedVersion]
    }

    /// The kind of failure, for programs.
    public let code: Code

    /// What is wrong, without any content of the message.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    static func malformed(_ reason: String) -> WireError { WireError(.malformed, reason) }
    static func tooLarge(_ reason: String) -> WireError { WireError(.tooLarge, reason) }
}

extension SyncError {
    /// Creates the error for a peer whose message was refused with `wire`.
    public init(_ wire: WireError) {
        switch wire.code {
        case .checksum:
            self.init(.truncated, "The message was damaged on the way: \(wire.reason)", hint: SyncError.damagedOnTheWay)
        case .truncated:
            self.init(.truncated, "The message was cut off: \(wire.reason)", hint: SyncError.damagedOnTheWay)
        case .tooLarge:
            self.init(.tooLarge, "The message is larger than allowed: \(wire.reason)")
        case .unsupportedVersion:
            self.init(
                .unsupportedVersion, "The peer speaks another version of the protocol: \(wire.reason)",
                hint: "Upgrade the older of the two programs.")
        default:
            self.init(.invalid, "The message is malformed: \(wire.reason)", hint: SyncError.otherProgram)
        }
    }

    private static let otherProgram = "Is the other side a Tandem replica of a compatible version?"
    private static let damagedOnTheWay = "Usually the connection broke; the next exchange asks for the rest."
}

extension WireError.Code: CustomStringConvertible {
    public var description: String { name }
}
