import Foundation
import Sync

/// The status of a replica that a daemon serves.
struct RemoteStatus: Sendable {
    /// The object of `--json`, as the daemon sent it, on one line.
    let line: String
    /// The same as aligned text.
    let text: String

    /// - Throws: ``Failure`` when the daemon cannot be reached, or when what answers is not a daemon.
    static func fetch(from peer: PeerConfiguration) async throws -> RemoteStatus {
        let bytes: [UInt8]
        do {
            bytes = try await CurlTransport(peer).get("/v1/status", type: ContentType.json)
        } catch let error as SyncError {
            throw error.failure(with: peer)
        }
        guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw Failure(
                "\(peer.name) did not answer with a status", hint: "Is this the address of a syncd, without a path?")
        }
        let line = String(decoding: bytes, as: UTF8.self).replacing("\n", with: " ")
        return RemoteStatus(line: line, text: ConsoleText.table(rows(of: object)))
    }

    /// Shows every field as received: a daemon of another release may send fields that this one does not
    /// know.
    private static func rows(of object: [String: Any]) -> [[String]] {
        object.keys.sorted().flatMap { name -> [[String]] in
            switch object[name] {
            case let list as [[String: Any]]:
                return list.map { [name, fields(of: $0)] }
            case let fields as [String: Any]:
                return fields.keys.sorted().map { [name, "\($0)  \(word(fields[$0]))"] }
            case let value: return [[name, word(value)]]
            }
        }
    }

    private static func fields(of object: [String: Any]) -> String {
        object.keys.sorted().compactMap { key in
            object[key] is NSNull ? nil : "\(ConsoleText.printable(key)) \(word(object[key]))"
        }.joined(separator: ", ")
    }

    private static func word(_ value: Any?) -> String {
        value is NSNull ? "" : value.map { ConsoleText.printable("\($0)") } ?? ""
    }
}
