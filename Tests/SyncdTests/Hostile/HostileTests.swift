import Foundation
import Testing

@testable import Sync

@Suite("Every input of the catalogue has its stated outcome, and changes nothing else")
struct HostileTests {
    /// The least number of inputs, so that a lost one is noticed.
    static let floor = 400

    /// The entries that other suites cover; docs/RELIABILITY.md names them.
    static let elsewhere: Set<Int> = [2, 3, 15, 51, 59, 61, 72, 75, 79, 80]

    @Test("the catalogue is complete: every entry has an input, or a suite of its own")
    func count() {
        let counts = Dictionary(grouping: HostileInput.all, by: \.entry).mapValues(\.count)
        print(
            "hostile inputs: \(HostileInput.all.count);",
            counts.sorted { $0.key < $1.key }.map { "B\($0.key) \($0.value)" }.joined(separator: ", "))
        #expect(HostileInput.all.count >= HostileTests.floor)
        #expect(Set(counts.keys).union(HostileTests.elsewhere) == Set(1...82))
        #expect(Set(counts.keys).isDisjoint(with: HostileTests.elsewhere))
        #expect(Set(HostileInput.all.map(\.testDescription)).count == HostileInput.all.count)
    }

    @Test("messages and frames, at an endpoint")
    func endpoint() async throws {
        // Each entry has a replica of its own, so that the rows of one do not slow down the digests of the
        // others.
        for (_, inputs) in Dictionary(grouping: HostileInput.all.filter(\.isForEndpoint), by: \.entry) {
            let endpoint = try EndpointUnderAttack()
            for input in inputs { try await endpoint.expect(input) }
            try await endpoint.expectSound()
        }
    }

    @Test("HTTP and credentials, at a daemon")
    func daemon() async throws {
        let daemon = try await DaemonUnderAttack()
        for input in HostileInput.all { try await daemon.expect(input) }
        try await daemon.expectQuietEnd()
    }

    @Test("answers, files and flags, at a command")
    func program() async throws {
        for input in HostileInput.all { try await ProgramUnderAttack().expect(input) }
    }
}
