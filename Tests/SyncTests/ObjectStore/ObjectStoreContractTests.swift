import Foundation
import TestSupport
import Testing

@testable import Sync

/// Every store keeps ``StoreContract``. A store of another kind needs one more test here.
@Suite struct ObjectStoreContractTests {
    @Test("a store of S3 with a server of this process", arguments: StoreContract.allCases)
    func fakeServer(rule: StoreContract) async throws {
        let server = try FakeS3()
        defer { server.stop() }
        try await rule.check(try server.store())
        #expect(server.faults == [])
    }

    @Test("a directory", arguments: StoreContract.allCases)
    func directory(rule: StoreContract) async throws {
        let directory = TemporaryDirectory()
        try await rule.check(DirectoryStore(directory.path))
    }

    @Test("a store in memory, as other tests use it", arguments: StoreContract.allCases)
    func memory(rule: StoreContract) async throws {
        try await rule.check(MemoryStore(clock: { 1_600_000_000_000 }))
    }

    @Test("a store of S3 with a real server", .enabled(if: RealServer.isThere), arguments: StoreContract.allCases)
    func realServer(rule: StoreContract) async throws { try await rule.check(try RealServer.store()) }
}

/// A server that `TANDEM_S3_TEST_URL` names, as an address of a store. Its keys come from the usual variables.
enum RealServer {
    private static let environment = ProcessInfo.processInfo.environment

    static var isThere: Bool { environment["TANDEM_S3_TEST_URL"] != nil }

    /// True for a server that checks signatures.
    static var checksSignatures: Bool { isThere && environment["TANDEM_S3_TEST_UNSIGNED"] == nil }

    /// The authority that signed the server's certificate; nil for a server without TLS.
    static var authority: String? { environment["TANDEM_S3_TEST_CA"] }

    /// - Parameters:
    ///   - changes: To the variables.
    ///   - authority: As above.
    static func store(
        changing changes: [String: String] = [:], authority: String? = RealServer.authority
    ) throws -> S3Store {
        let all = environment.merging(changes) { _, new in new }
        return try S3Store(
            S3Address(all["TANDEM_S3_TEST_URL"] ?? "", environment: all),
            credentials: S3CredentialSource(environment: all), tls: TLSFiles(authorities: authority))
    }
}
