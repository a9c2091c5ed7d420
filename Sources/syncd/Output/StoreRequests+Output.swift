import Journal
import Sync

// How the requests to an archive are shown. Servers charge by them.

extension StoreRequests {
    /// The names of the requests in outputs, which are those of ARCHIVE.md.
    static let verbs: [(name: String, count: @Sendable (StoreRequests) -> Int)] = [
        ("create", { $0.creates }), ("replace", { $0.replaces }), ("get", { $0.gets }), ("list", { $0.lists }),
        ("delete", { $0.deletes }),
    ]

    var json: JSONValue {
        .object(
            StoreRequests.verbs.map { JSONValue.Member(name: $0.name, value: .integer(Int64($0.count(self)))) } + [
                JSONValue.Member(name: "sent_bytes", value: .integer(Int64(sentBytes))),
                JSONValue.Member(name: "received_bytes", value: .integer(Int64(receivedBytes))),
            ])
    }

    var summary: String {
        StoreRequests.summary(total: Int64(total), sent: Int64(sentBytes), received: Int64(receivedBytes))
    }

    /// `12 requests (3 412 bytes sent, 981 received)`
    static func summary(total: Int64, sent: Int64, received: Int64) -> String {
        "\(ConsoleText.count(total, "request")) (\(ConsoleText.count(sent, "byte")) sent, "
            + "\(ConsoleText.number(received)) received)"
    }
}
