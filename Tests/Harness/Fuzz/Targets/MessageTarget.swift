import Journal
import Sync

enum MessageTarget {
    static func hello(_ bytes: [UInt8]) { check(Hello.self, bytes) }

    static func pull(_ bytes: [UInt8]) {
        guard let request = check(PullRequest.self, bytes) else { return }
        let limits = Limits.standard
        precondition((0...limits.longPollSeconds).contains(request.waitSeconds), "a wait beyond the limit")
        precondition((0...limits.bytesPerPull).contains(request.maxBytes), "an answer beyond the limit")
    }

    static func digest(_ bytes: [UInt8]) { check(DigestRequest.self, bytes) }

    static func replies(_ bytes: [UInt8]) {
        check(PushReply.self, bytes)
        check(DigestReply.self, bytes)
    }

    /// Checks that an accepted message comes back equal from the wire.
    @discardableResult
    private static func check<M: WireMessage & Equatable>(_ type: M.Type, _ bytes: [UInt8]) -> M? {
        guard let message = try? M(decoding: bytes, limits: .standard) else { return nil }
        guard let encoded = try? message.encoded() else { preconditionFailure("an accepted message cannot be written") }
        let again = try? M(decoding: encoded, limits: .standard)
        precondition(again == message, "a message that was written again is another one")
        return message
    }
}
