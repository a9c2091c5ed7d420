import Foundation
import Sync

/// The status of a replica that a daemon serves.
struct RemoteStatus: Sendable {
    /// The object of `--json`, as the daemon sent it, on one line.
    let line: String
    /// The same as text.
    let text: String

    /// - Throws: ``Failure`` when the daemon cannot be reached, or when what answers is not a daemon.
    static func fetch(from peer: PeerConfiguration) async throws -> RemoteStatus {
        if let exposure = peer.exposure { Console.log("Warning: \(exposure).") }
        let bytes: [UInt8]
        do {
            bytes = try await CurlTransport(peer).get("/v1/status", type: ContentType.json)
        } catch let error as SyncError {
            throw error.failure(with: peer)
        }
        guard let text = StatusText(bytes) else {
            throw Failure(
                "\(peer.name) did not answer with a status", hint: "Is this the address of a syncd, without a path?")
        }
        let line = String(decoding: bytes, as: UTF8.self).replacing("\n", with: " ")
        return RemoteStatus(line: line, text: text.text)
    }
}
