import Foundation
import Testing

@testable import Sync

/// What only a real server can show; see `scripts/store-test`.
@Suite(.serialized, .enabled(if: RealServer.isThere)) struct RealServerTests {
    @Test("a wrong secret key and an unknown key are refused as such", .enabled(if: RealServer.checksSignatures))
    func wrongKeys() async throws {
        for changes in [["AWS_SECRET_ACCESS_KEY": "wrong-canary"], ["AWS_ACCESS_KEY_ID": "nobody"]] {
            let store = try RealServer.store(changing: changes)
            let error = await #expect(throws: SyncError.self) { try await store.get("a") }
            #expect(error?.code == .unauthorized || error?.code == .forbidden, "\(error.map { "\($0)" } ?? "")")
            #expect(error.map { "\($0)".contains("canary") } == false)
        }
    }

    @Test("a bucket that is not there is named")
    func missingBucket() async throws {
        let url = ProcessInfo.processInfo.environment["TANDEM_S3_TEST_URL"] ?? ""
        let other = url.replacingOccurrences(of: "s3://", with: "s3://no-such-")
        let store = try RealServer.store(changing: ["TANDEM_S3_TEST_URL": other])
        await #expect(throws: SyncError.self) { try await store.list("", after: nil) }
        let error = await #expect(throws: SyncError.self) { try await store.get("a") }
        #expect(error?.code == .notFound, "\(error.map { "\($0)" } ?? "")")
        #expect(error?.message.contains("s3://no-such-") == true)
    }

    @Test("a certificate that nobody trusts is refused", .enabled(if: RealServer.authority != nil))
    func untrusted() async throws {
        let store = try RealServer.store(authority: nil)
        let error = await #expect(throws: SyncError.self) { try await store.get("a") }
        #expect(error?.code == .tls)
        #expect(error?.message.contains("certificate") == true)
    }
}
