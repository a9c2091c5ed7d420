/// Why bytes from a peer were refused. Nothing of a refused message is used.
public struct WireError: Error, Sendable, Hashable {
    /// The kinds of failures, for programs.
    public enum Kind: Sendable, Hashable {
        /// The bytes break the format or contradict themselves.
        case malformed
        /// The bytes end before the message does.
        case truncated
        /// The checksum does not match the bytes.
        case checksum
        /// The message exceeds one of ``Limits``.
        case tooLarge
        /// A wire version that this program does not support.
        case unsupportedVersion
    }

    /// The kind of failure, for programs.
    public let kind: Kind

    /// What is wrong, without any content of the message.
    public let reason: String

    init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    static func malformed(_ reason: String) -> WireError { WireError(.malformed, reason) }
    static func tooLarge(_ reason: String) -> WireError { WireError(.tooLarge, reason) }
}

extension SyncError {
    /// Creates the error for a peer whose message was refused with `wire`.
    public init(_ wire: WireError) {
        switch wire.kind {
        case .malformed:
            self.init(.invalid, "The message is malformed: \(wire.reason)", hint: SyncError.otherProgram)
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
        }
    }

    private static let otherProgram = "Is the other side a Tandem replica of a compatible version?"
    private static let damagedOnTheWay = "Usually the connection broke; the next exchange asks for the rest."
}
