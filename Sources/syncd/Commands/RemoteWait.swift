import Foundation
import Journal
import Sync

/// Waits at a replica that a daemon serves. One request of the daemon waits for a limited time, so that a
/// long wait is several of them.
struct RemoteWait: Sendable {
    let peer: PeerConfiguration
    let token: WriteToken

    /// - Returns: Whether the replica has what the token names.
    /// - Throws: ``Failure`` when the daemon cannot be reached, or when what answers is not a daemon.
    func run(seconds: Int) async throws -> Bool {
        if let exposure = peer.exposure { Console.log("Warning: \(exposure).") }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        do {
            let transport = try CurlTransport(peer)
            while true {
                let left = Int(max(0, (deadline - clock.now).components.seconds + 1))
                let request = WaitRequest(
                    token: token.description, seconds: min(left, seconds, WaitRequest.mostSeconds))
                let answer = try await transport.post(
                    WaitRequest.path, json: [UInt8](try JSONEncoder().encode(request)),
                    waitSeconds: WaitRequest.mostSeconds)
                guard let answer = try? JSONDecoder().decode(WaitAnswer.Body.self, from: Data(answer)) else {
                    throw Failure(
                        "\(peer.name) did not answer whether it has the write",
                        hint: "Is this the address of a syncd of this release, without a path?")
                }
                if answer.reached || clock.now >= deadline { return answer.reached }
            }
        } catch let error as SyncError {
            throw error.failure(with: peer)
        }
    }
}
